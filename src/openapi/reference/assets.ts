/// <reference path="./raw.d.ts" />
import controls from './controls.css?raw'
import icon from './icon.svg?raw'
import page from './page.css?raw'
import script from './page.js?raw'
import reference from './reference.css?raw'

/** The files of the reference as texts. The live view of `petstore serve` uses all but the last. */
export const assets = {
  'page.css': page,
  'controls.css': controls,
  'page.js': script,
  'icon.svg': icon,
  'reference.css': reference,
}

/** The address of the icon: the icon itself, so that a page makes no request for it. */
export const ICON = `data:image/svg+xml,${encodeURIComponent(icon)}`
