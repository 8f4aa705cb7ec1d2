import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import { version } from '../../start/version.ts'
import { listOperations } from './docs-list.ts'
import { serveFile } from './files.ts'
import { buildOpenApi } from '../openapi/openapi.ts'

/** A library renders the page. This policy lets it load files from this server only. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  // The library sets inline styles.
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** The list of operations covers the reference until the library has rendered it, which takes seconds on a slow machine. */
const style = `
#list { position: fixed; inset: 0; z-index: 1000; overflow: auto; padding: 1rem 2rem;
  color-scheme: light dark; background: Canvas; color: CanvasText; font: 15px/1.5 system-ui, sans-serif }
#list li { margin-bottom: 0.5rem }
#list code { font-size: 0.9em }
`

// URLs are relative, so the page also works behind a proxy that serves Plenum below a path.
const page = () => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Plenum reference</title>
<link rel="icon" href="data:,">
<style>${style}</style>
</head>
<body>
<main id="list">
<h1>Plenum reference</h1>
<noscript>The full reference needs JavaScript. The same content is in <a href="openapi.json">openapi.json</a>.</noscript>
${listOperations()}
</main>
<div id="reference"></div>
<script src="docs/reference.js"></script>
<script src="docs/start.js"></script>
</body>
</html>
`

const start = `Scalar.createApiReference('#reference', {
  url: 'openapi.json',
  operationTitleSource: 'summary',
  orderSchemaPropertiesBy: 'preserve',
  orderRequiredPropertiesFirst: false,
  hideModels: true,
  authentication: { preferredSecurityScheme: [['ApiKey', 'AuthToken']] },
  onLoaded: () => document.getElementById('list')?.remove(),
  // Features that would contact other servers are off.
  withDefaultFonts: false,
  telemetry: false,
  agent: { disabled: true },
  mcp: { disabled: true },
  hideClientButton: true,
  showDeveloperTools: 'never',
})
`

/** The script that renders the reference. The build copies it next to the server; in a checkout it is in its npm package. */
function referenceScript(): URL | string {
  const built = new URL('./reference.js', import.meta.url)
  if (existsSync(built)) return built
  const { resolve } = createRequire(import.meta.url)
  return join(dirname(resolve('@scalar/fastify-api-reference')), 'js/standalone.js')
}

/** The text of `openapi.json`. The build writes it next to the server; in a checkout it is built from the operation table. */
function openApiText(): string | Promise<string> {
  const built = new URL('./openapi.json', import.meta.url)
  return existsSync(built) ? readFile(built, 'utf8') : JSON.stringify(buildOpenApi())
}

/** Adds the description of the interface: `openapi.json` for machines, `/docs` for people. */
export function mountDocs(app: FastifyInstance): void {
  serveFile(app, '/openapi.json', {
    type: 'application/json; charset=utf-8',
    load: openApiText,
    headers: { 'access-control-allow-origin': '*' },
  })
  serveFile(app, '/docs', {
    type: 'text/html; charset=utf-8',
    load: page,
    headers: { 'content-security-policy': contentSecurityPolicy, 'referrer-policy': 'no-referrer' },
  })
  serveFile(app, '/docs/start.js', { type: 'text/javascript; charset=utf-8', load: () => start })
  serveFile(app, '/docs/reference.js', {
    type: 'text/javascript; charset=utf-8',
    load: () => readFile(referenceScript(), 'utf8'),
  })
  app.get('/docs/', (_request, reply) => reply.redirect('../docs'))

  app.get('/', (request, reply) => {
    if (request.headers.accept?.includes('text/html')) return reply.redirect('docs')
    return reply.send({
      name: 'Plenum',
      version,
      docs: '/docs',
      openapi: '/openapi.json',
      health: '/healthz',
    })
  })
}
