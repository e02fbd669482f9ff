import { html } from './html.ts'
import { layout } from './layout.ts'

export function consolePage(): string {
  return layout(
    {
      path: '/console',
      title: 'API console – Pet store',
      styles: ['swagger-ui', 'console'],
      head: html`<script defer src="/page/swagger-ui-bundle.js"></script>
    <script type="module" src="/page/console.js"></script>`,
      content: html`<div id="main" tabindex="-1">
      <div id="console"><p class="empty">Loading the console…</p></div>
    </div>`,
    },
    true,
  )
}
