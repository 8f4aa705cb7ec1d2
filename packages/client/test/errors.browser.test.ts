import { expect, test } from 'vitest'
import * as given from '../../server/test/support/given.ts'
import { tokenFor } from '../../server/test/support/access/user-tokens.ts'
import type * as Plenum from '../src/index.ts'
import { useSite } from './support/pages.ts'

const site = useSite('src/index.ts')

/** Opens a document in a page of this host. Returns a function that reads the warnings in its console. */
async function visit(host: string, url: string, token: string): Promise<() => string[]> {
  const tab = await site.browser.newPage()
  const warnings: string[] = []
  tab.on('console', (message) => {
    if (message.type() === 'warning') warnings.push(message.text())
  })
  await tab.goto(`http://${host}:${site.page.port}/`)
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
    const token = await tokenFor(await given.tenant(site.server))
    const otherOrigin = await visit('elsewhere.example', site.server.url, token)
    await expect
      .poll(otherOrigin)
      .toEqual([
        `[plenum] The page's origin http://elsewhere.example:${site.page.port} is not among the allowed domains of the API key. Allow it with client.domains.add({ domains: ['elsewhere.example'] }).`,
      ])
    const htmlToken = await visit('localhost', site.server.url, '<!doctype html><p>Sign in')
    await expect
      .poll(htmlToken)
      .toEqual([
        '[plenum] The token is not a JWT: it begins with `<!doctype html>`. Does your token endpoint answer with a web page?',
      ])
    // No server listens at port 9.
    const noServer = await visit('localhost', 'http://127.0.0.1:9', token)
    await expect
      .poll(noServer)
      .toEqual([
        '[plenum] Plenum does not answer at ws://127.0.0.1:9/realtime after 3 attempts: is the server running, and is the address right?',
      ])
  },
)
