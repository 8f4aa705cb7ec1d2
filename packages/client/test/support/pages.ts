import { createServer } from 'node:http'
import { resolve } from 'node:path'
import type { Browser } from 'playwright-core'
import { rolldown } from 'rolldown'
import { afterAll, beforeAll } from 'vitest'
import { startServer, type TestServer } from '../../../server/test/support/harness.ts'
import { openBrowser } from '../../../server/test/support/services/chromium.ts'

/** Bundles a file of this package as an application would ship it. `external` modules stay outside. */
export async function bundle(entry: string, external: string[] = []): Promise<string> {
  const build = await rolldown({
    input: resolve(import.meta.dirname, '../..', entry),
    platform: 'browser',
    resolve: { conditionNames: ['plenum-source', 'import', 'default'] },
    transform: { define: { 'process.env.NODE_ENV': '"development"' } },
    external,
    checks: { moduleLevelDirective: false },
  })
  const { output } = await build.generate({
    format: 'iife',
    name: 'plenum',
    minify: true,
    globals: Object.fromEntries(external.map((name) => [name, name])),
  })
  await build.close()
  if (output.length > 1) throw new Error(`${entry} is more than one file.`)
  return output[0].code
}

/** Serves a page with this script, for every host name that resolves to this machine. */
export async function servePage(code: string): Promise<{ port: number; stop(): void }> {
  const server = createServer((_request, response) => {
    response
      .setHeader('content-type', 'text/html; charset=utf-8')
      .end(`<!doctype html><title>Page</title><div id="root"></div><script>${code}</script>`)
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  const { port } = server.address() as { port: number }
  return { port, stop: () => void server.close() }
}

export interface Site {
  server: TestServer
  browser: Browser
  page: { port: number; stop(): void }
}

/** A page with this file of the package, a server and a browser, for the tests of a file. */
export function useSite(entry: string): Site {
  const site = {} as Site
  beforeAll(async () => {
    site.page = await servePage(await bundle(entry))
    site.server = await startServer('sqlite')
    site.browser = await openBrowser()
  }, 300_000)
  afterAll(async () => {
    await site.browser?.close()
    site.page?.stop()
    await site.server?.stop()
  })
  return site
}
