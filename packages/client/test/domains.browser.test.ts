import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { openBrowser } from '../../server/test/support/services/chromium.ts'
import * as given from '../../server/test/support/given.ts'
import { startServer } from '../../server/test/support/harness.ts'
import type * as Plenum from '../src/rest.ts'
import { bundle, servePage } from './support/pages.ts'

test('[K13.1] the REST client takes less than 4 KB, compressed, and imports nothing at run time', async () => {
  const code = await bundle('src/rest.ts')
  expect(gzipSync(code).length).toBeLessThan(4096)
  expect(code).not.toMatch(/\b(require|import)\s*\(/)
})

test('[K13.1] the live client takes less than 25 KB, compressed, without Yjs, and the hooks less than 3 KB without React', async () => {
  expect(gzipSync(await bundle('src/index.ts', ['yjs'])).length).toBeLessThan(25 * 1024)
  expect(gzipSync(await bundle('src/react.ts', ['react'])).length).toBeLessThan(3 * 1024)
})

test(
  '[2.0.1] [2.0.3] a page of an allowed domain can call a server of another origin, and other pages get an error that says why not',
  { timeout: 300_000 },
  async () => {
    const code = await bundle('src/rest.ts')
    const page = await servePage(code)
    const server = await startServer('sqlite')
    const { apiKey, authToken } = await given.tenant(server)
    const browser = await openBrowser()

    /** Calls the client in a page of this host, and returns the outcomes. */
    const visit = async (host: string) => {
      const tab = await browser.newPage()
      await tab.goto(`http://${host}:${page.port}/`)
      return tab.evaluate(
        async (options) => {
          const { createClient, ApiError } = (globalThis as unknown as { plenum: typeof Plenum }).plenum
          const client = createClient({ ...options, retries: 0 })
          const outcome = (call: Promise<unknown>) =>
            call.catch((error) => ({
              isApiError: error instanceof ApiError,
              status: error.status,
              message: error.message,
            }))
          const organizations = [{ organizationId: 'from-a-page', organizationName: 'Ünïcode 😀' }]
          return {
            secure: isSecureContext,
            added: await outcome(client.organizations.add({ organizations })),
            read: await outcome(client.organizations.get({ organizationIds: ['from-a-page'] })),
            refused: await outcome(client.organizations.get({ pageSize: 0 })),
          }
        },
        { url: server.url, apiKey, authToken },
      )
    }

    try {
      expect(await visit('localhost')).toEqual({
        secure: true,
        added: expect.objectContaining({
          message: 'Organization(s) added successfully.',
          data: { 'from-a-page': expect.objectContaining({ success: true }) },
        }),
        read: expect.objectContaining({
          data: [expect.objectContaining({ id: 'from-a-page', organizationName: 'Ünïcode 😀' })],
        }),
        refused: {
          isApiError: true,
          status: 'INVALID_ARGUMENT',
          message: 'pageSize must be an integer between 1 and 1000.',
        },
      })
      const denied = {
        isApiError: true,
        status: 'PERMISSION_DENIED',
        message:
          'This origin is not among the allowed domains of the API key. Add it with /v2/workspace/domains/add.',
      }
      // A page with plain HTTP and a host name is not a secure context, so parts of the Web Crypto API are missing.
      expect(await visit('elsewhere.example')).toEqual({
        secure: false,
        added: denied,
        read: denied,
        refused: denied,
      })
    } finally {
      await browser.close()
      page.stop()
      await server.stop()
    }
  },
)
