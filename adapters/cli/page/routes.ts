import { readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { inspect } from 'node:util'
import { codeOf, type PetStoreError } from '../../../src/errors.ts'
import { originForm, pathOf } from '../../../src/http/request.ts'
import { errorResponse, jsonResponse } from '../../../src/http/response.ts'
import type { ApiRequest, ApiResponse, ConditionOptions, Pet, PetStatus, Pets, Usage } from '../../../src/index.ts'
import { writePet } from '../../../src/pets/json.ts'
import { parseInt64 } from '../../../src/schemas/int64.ts'
import type { SiteRoute, SiteRoutes } from '../../hosts/node/site.ts'
import { type FaultControl, faultsOfFlags, faultText } from '../faults/faults.ts'
import { parseChance, parseDelay } from '../terminal/flags.ts'
import type { LogEntry, LoggedStore } from './request-log.ts'
import { documentResponse, type SharedDocument, sharedDocument } from './shared-document.ts'
import { isFromThisMachine, isSecret, sentToken } from './visitor.ts'

export interface DemoKey {
  readonly id: string
  readonly plan: string
  readonly token: string
}

export interface PageOptions {
  readonly basePath: string
  /** The secret in the page's URL. Without it, a browser sees no demo keys, no usage and no log. */
  readonly secret: string
  /** Returns keys that the page offers to its visitor. They must be useless on other machines. */
  readonly demoKeys: () => readonly DemoKey[]
  /** Returns the usage of a token's key; `undefined` if the token is not valid. */
  readonly usageOf: (token: string) => Promise<Usage | undefined>
  /** The animals, which the page may change. */
  readonly pets: Pick<Pets, 'update' | 'remove'>
  readonly log: Pick<LoggedStore, 'entriesAfter' | 'logChange'>
  /** The folder that contains the page's files. @default 'page', beside the bundled command */
  readonly folder?: string
  /** How often a test has reset the store. The page then forgets what it shows. @default 0 */
  readonly resets?: () => number
  /** The faults, which the page shows and switches. @default none */
  readonly faults?: FaultControl | undefined
}

/** The values that the page asks the server for every second. */
export interface Settings {
  readonly basePath: string
  /** How often a test has reset the store. */
  readonly resets: number
  /** Whether the request had the secret. Without it, `demoKeys` and `entries` are empty. */
  readonly hasSecret: boolean
  readonly demoKeys: readonly DemoKey[]
  /** The entries of the log that are new to the page, the oldest first. */
  readonly entries: readonly LogEntry[]
  /** The faults in words; `null` if this store cannot have any. */
  readonly faults: readonly string[] | null
}

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

const PAGE_HEADERS = [
  ...['Content-Security-Policy', POLICY],
  ...['Cross-Origin-Opener-Policy', 'same-origin'],
  ...['Referrer-Policy', 'no-referrer'],
]

const FILES = ['page.css', 'live.js', 'icon.svg']

export function pageRoutes(options: PageOptions): SiteRoutes {
  const { folder = fileURLToPath(new URL('page', import.meta.url)), resets = () => 0, pets, log, faults } = options
  const isOpenedFromTerminal = (request: ApiRequest) =>
    isFromThisMachine(request) && isSecret(request.header('petstore-secret'), options.secret)
  const files = new Map(FILES.map((name) => [name, fileRoute(folder, name)]))

  /** Changes or removes an animal, if it still has the status that the visitor has seen. */
  async function change(request: ApiRequest, idText: string): Promise<ApiResponse> {
    const id = parseInt64(idText)
    if (id === undefined || !isOpenedFromTerminal(request)) return errorResponse('route_not_found')
    const query = queryOf(request)
    const changes = { status: query.get('status') as PetStatus }
    const condition = { if: { status: query.get('ifStatus') as PetStatus } }
    const isRemoved = request.method === 'DELETE'
    try {
      const pet = await (isRemoved ? pets.remove(id, condition) : pets.update(id, changes, condition))
      log.logChange({ call: callOf(id, isRemoved ? undefined : changes, condition), pet: writePet(pet), isRemoved })
      return changeResponse(true, pet)
    } catch (error) {
      const code = codeOf(error)
      if (code === 'condition_failed') return changeResponse(false, (error as PetStoreError).pet)
      if (code === 'pet_not_found') return changeResponse(false, undefined)
      return errorResponse(code === 'invalid_option' ? 'invalid_parameter' : 'service_unavailable')
    }
  }

  /** Adds the faults of `?delay=100-800&fail=0.1`. They have the form of the flags `--delay` and `--fail`. */
  function addFaults(request: ApiRequest): ApiResponse {
    if (faults === undefined || !isOpenedFromTerminal(request)) return errorResponse('route_not_found')
    const query = queryOf(request)
    try {
      const parsed = <T>(name: string, parse: (text: string) => T) =>
        query.get(name) ? parse(String(query.get(name))) : undefined
      for (const fault of faultsOfFlags({ delay: parsed('delay', parseDelay), fail: parsed('fail', parseChance) }))
        faults.add(fault)
    } catch (error) {
      return errorResponse('invalid_parameter', [], String((error as Error).message))
    }
    return privateJson(null)
  }

  function endFaults(request: ApiRequest): ApiResponse {
    if (faults === undefined || !isOpenedFromTerminal(request)) return errorResponse('route_not_found')
    faults.clear()
    return privateJson(null)
  }

  return {
    '/': fileRoute(folder, 'index.html'),
    '/page/settings.json': (request) => {
      const hasSecret = isOpenedFromTerminal(request)
      const after = Number(queryOf(request).get('after'))
      const forVisitor = {
        demoKeys: options.demoKeys(),
        entries: options.log.entriesAfter(after),
        faults: faults?.inForce().map(faultText) ?? null,
      }
      return privateJson({
        basePath: options.basePath,
        resets: resets(),
        hasSecret,
        ...(hasSecret ? forVisitor : { demoKeys: [], entries: [], faults: null }),
      } satisfies Settings)
    },
    // Before `/page/:name`, which matches this path too.
    'POST /page/faults': addFaults,
    'DELETE /page/faults': endFaults,
    '/page/:name': (request, parameters) => files.get(parameters.name ?? '')?.(request, parameters),
    'PATCH /page/pets/:id': (request, { id = '' }) => change(request, id),
    'DELETE /page/pets/:id': (request, { id = '' }) => change(request, id),
    '/usage': async (request) => {
      const token = sentToken(request)
      // Without this check, anybody could guess tokens: a response shows whether a token is valid,
      // and no limit counts the requests.
      if (!isOpenedFromTerminal(request)) return errorResponse('route_not_found')
      if (token === undefined) return errorResponse('missing_api_key', ['WWW-Authenticate', 'Bearer realm="petstore"'])
      return options.usageOf(token).then(
        (usage) => privateJson(usage ?? null),
        () => errorResponse('service_unavailable'),
      )
    },
  }
}

function queryOf(request: ApiRequest): URLSearchParams {
  const target = originForm(request.target)
  return new URLSearchParams(target.slice(pathOf(target).length))
}

/** @param pet - the animal after the change, or as it is if there was no change */
function changeResponse(applied: boolean, pet: Pet | undefined): ApiResponse {
  return privateText(`{"applied":${applied},"pet":${pet ? writePet(pet) : null}}`)
}

/** Returns the call of the host's side that has the same effect. Without `changes`, it removes the animal. */
function callOf(id: bigint, changes: object | undefined, condition: ConditionOptions): string {
  const values = [changes, condition].filter((value) => value !== undefined)
  const parameters = [`${id}n`, ...values.map((value) => inspect(value))].join(', ')
  return `petStore.pets.${changes ? 'update' : 'remove'}(${parameters})`
}

function privateJson(value: unknown): ApiResponse {
  return privateText(JSON.stringify(value))
}

function privateText(json: string): ApiResponse {
  return jsonResponse(200, json, ['Cross-Origin-Resource-Policy', 'same-origin'])
}

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
}

/** The file is read at the first request, so that it does not delay the start. */
function fileRoute(folder: string, name: string): SiteRoute {
  let document: SharedDocument | undefined
  return (request) => {
    document ??= sharedDocument(readFileSync(join(folder, name)))
    return documentResponse(document, request, ['Content-Type', TYPES[extname(name)] as string, ...PAGE_HEADERS])
  }
}
