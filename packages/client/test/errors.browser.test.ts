import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openBrowser } from '../../server/test/support/services/chromium.ts'
import * as given from '../../server/test/support/given.ts'
import { startServer, type TestServer } from '../../server/test/support/harness.ts'
import { tokenFor } from '../../server/test/support/access/user-tokens.ts'
import type * as Plenum from '../src/index.ts'
import { bundle, servePage } from './support/pages.ts'

let server: TestServer
let browser: Browser
let page: Awaited<ReturnType<typeof servePage>>

beforeAll(async () => {
  page = await servePage(await bundle('src/index.ts'))
  server = await startServer('sqlite')
  browser = await openBrowser()
}, 300_000)

afterAll(async () => {
  await browser?.close()
  page?.stop()
  await server?.stop()
})

/** Opens a document in a page of this host. Returns a function that reads the warnings in its console. */
async function visit(browser: Browser, host: string, url: string, token: string): Promise<() => string[]> {
  const tab = await browser.newPage()
  const warnings: string[] = []
  tab.on('console', (message) => {
    if (message.type() === 'warning') warnings.push(message.text())
  })
  await tab.goto(`http://${host}:${page.port}/`)
  await tab.evaluate(
    ([url, token]) => {
      const { createClient } = (globalThis as unknown as { plenum: typeof Plenum }).plenum
      createClient({ url }).connect({ token }).document('org_1', 'doc_1')
    },
    [url, token] as [string, string],
  )
  return () => warnings
}

test(
  '[K11.2] the console of a page warns of a refused origin, of HTML in place of a token, and of a server that does not answer',
  { timeout: 300_000 },
  async () => {
    const token = await tokenFor(await given.tenant(server))
    const otherOrigin = await visit(browser, 'elsewhere.example', server.url, token)
    await expect
      .poll(otherOrigin)
      .toEqual([
        `[plenum] The page's origin http://elsewhere.example:${page.port} is not among the allowed domains of the API key. Allow it with client.domains.add({ domains: ['elsewhere.example'] }).`,
      ])
    const htmlToken = await visit(browser, 'localhost', server.url, '<!doctype html><p>Sign in')
    await expect
      .poll(htmlToken)
      .toEqual([
        '[plenum] The token is not a JWT: it begins with `<!doctype html>`. Does your token endpoint answer with a web page?',
      ])
    // No server listens at port 9.
    const noServer = await visit(browser, 'localhost', 'http://127.0.0.1:9', token)
    await expect
      .poll(noServer)
      .toEqual([
        '[plenum] Plenum does not answer at ws://127.0.0.1:9/realtime after 3 attempts: is the server running, and is the address right?',
      ])
  },
)
