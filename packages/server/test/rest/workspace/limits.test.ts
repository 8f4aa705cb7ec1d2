import { describe, expect, test } from 'vitest'
import * as given from '../../support/given.ts'
import { startServer, stores, type TestServer } from '../../support/harness.ts'

const create = '/v2/workspace/create'
const invalid = (message: string) => ({ error: { status: 'INVALID_ARGUMENT', message } })
const tooMany = {
  error: { status: 'RESOURCE_EXHAUSTED', message: 'Rate limit exceeded for this endpoint. Try again later.' },
}

/** Sends a call that fails. It counts towards the limit like any other. */
const from = (server: TestServer, forwardedFor: string) =>
  server.post(create, { data: { ownerEmail: 'nobody' } }, { 'x-forwarded-for': forwardedFor })

describe.each(stores)('workspace limits on %s', (store) => {
  /** Runs `work` with a server of its own, because each server has its own counters. */
  async function withServer(env: Record<string, string>, work: (server: TestServer) => Promise<void>) {
    const server = await startServer(store, { env })
    try {
      await work(server)
    } finally {
      await server.stop()
    }
  }
  const limited = { LIMIT_CREATE_WORKSPACE_PER_HOUR: '3' }

  test('[4.4] create has a rate limit per client address, which includes failed attempts', () =>
    withServer(limited, async (server) => {
      expect(await server.post(create, { data: { ownerEmail: 'one@example.com' } })).toMatchObject({
        status: 200,
      })
      expect(await server.post(create, { data: { ownerEmail: 'nobody' } })).toMatchObject({ status: 400 })
      expect(await server.post(create, 'not JSON')).toMatchObject({ status: 400 })
      const refused = await server.post(create, { data: { ownerEmail: 'four@example.com' } })
      expect(refused).toMatchObject({ status: 429, body: tooMany })
      const seconds = Number(refused.headers.get('retry-after'))
      expect(seconds).toBeGreaterThan(3500)
      expect(seconds).toBeLessThanOrEqual(3600)
    }))

  test('[0.7.11] the server ignores X-Forwarded-For unless a proxy is configured', () =>
    withServer(limited, async (server) => {
      for (const address of ['192.0.2.1', '192.0.2.2', '192.0.2.3']) {
        expect(await from(server, address)).toMatchObject({ status: 400 })
      }
      expect(await from(server, '192.0.2.4')).toMatchObject({ status: 429, body: tooMany })
    }))

  test('[0.7.11] behind a configured proxy the server uses the address that the proxy wrote, and ignores those left of it', () =>
    withServer({ ...limited, TRUSTED_PROXY_HOPS: '1' }, async (server) => {
      for (const forged of ['198.51.100.1', '198.51.100.2', '198.51.100.3']) {
        expect(await from(server, `${forged}, 192.0.2.1`)).toMatchObject({ status: 400 })
      }
      expect(await from(server, '198.51.100.4, 192.0.2.1')).toMatchObject({ status: 429, body: tooMany })
      expect(await from(server, '192.0.2.2')).toMatchObject({ status: 400 })
    }))

  test('[0.7.11] the rate limit treats all addresses of one IPv6 /64 as one client', () =>
    withServer({ ...limited, TRUSTED_PROXY_HOPS: '1' }, async (server) => {
      for (const address of ['2001:db8::1', '2001:db8::2', '2001:db8::ffff:1']) {
        expect(await from(server, address)).toMatchObject({ status: 400 })
      }
      expect(await from(server, '2001:db8::3')).toMatchObject({ status: 429, body: tooMany })
      expect(await from(server, '2001:db8:0:1::3')).toMatchObject({ status: 400 })
    }))

  test('[0.7] workspace-level calls have a rate limit per workspace and minute', () =>
    withServer({ LIMIT_WORKSPACE_REQUESTS_PER_MINUTE: '3' }, async (server) => {
      // given.tenant has already made one call for each workspace: it reads the auth token of the API key.
      const busy = await given.tenant(server)
      const idle = await given.tenant(server)
      await busy.client.workspace.get()
      await busy.client.apiKeys.get()
      await expect(busy.client.workspace.get()).rejects.toMatchObject({
        httpStatus: 429,
        status: 'RESOURCE_EXHAUSTED',
        message: 'Rate limit exceeded. Try again after 1 minute.',
        retryAfterSeconds: expect.toSatisfy((seconds: number) => seconds > 0 && seconds <= 60),
      })
      await idle.client.workspace.get()
      await busy.client.organizations.get()
    }))

  test('[1.1.5] settings can add domains to the list of disposable domains and remove them from it', () =>
    withServer(
      { DISPOSABLE_DOMAINS: 'throwaway.example', DISPOSABLE_DOMAINS_EXCEPT: 'mailinator.com' },
      async (server) => {
        expect(await server.post(create, { data: { ownerEmail: 'x@throwaway.example' } })).toMatchObject({
          status: 400,
          body: invalid('Disposable email domains are not allowed.'),
        })
        expect(await server.post(create, { data: { ownerEmail: 'x@mailinator.com' } })).toMatchObject({
          status: 200,
        })
      },
    ))

  test('[1.1.2] a server with WORKSPACE_CREATION=closed refuses to create workspaces', () =>
    withServer({ WORKSPACE_CREATION: 'closed' }, async (server) => {
      expect(await server.post(create, { data: { ownerEmail: 'x@example.com' } })).toMatchObject({
        status: 403,
        body: {
          error: {
            status: 'PERMISSION_DENIED',
            message: 'Creating workspaces is closed on this server (WORKSPACE_CREATION).',
          },
        },
      })
    }))
})
