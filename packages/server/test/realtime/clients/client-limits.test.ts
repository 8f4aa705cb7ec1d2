import type { ApiError } from '@plenum/client'
import { describe, expect, test } from 'vitest'
import * as given from '../../support/given.ts'
import { anyStore, useServer } from '../../support/harness.ts'
import { eventually } from '../../support/clients/convergence.ts'
import { plenumConnection } from '../../support/clients/plenum-client.ts'
import { tokenFor } from '../../support/access/user-tokens.ts'

describe('limits of the client', () => {
  const server = useServer(anyStore)

  async function scene() {
    const tenant = await given.tenant(server)
    const connection = plenumConnection(server.client(), await tokenFor(tenant))
    const errors: ApiError[] = []
    connection.on('error', (error) => errors.push(error))
    const document = connection.document('org_1', 'doc_1')
    await eventually(() => document.status).toBe('connected')
    return { tenant, connection, document, errors }
  }

  test('[K5.1] the server accepts the longest, widest and deepest live states that the client accepts', async () => {
    const { connection, document } = await scene()
    const longest = { list: Array(49_988).fill('a') }
    const widest = Object.fromEntries(Array.from({ length: 9_990 }, (_, key) => [key, 1]))
    const deepest = JSON.parse(`${'{"a":'.repeat(60)}1${'}'.repeat(60)}`)
    for (const data of [longest, widest, deepest]) await document.liveState('v').set(data)
    await document.liveState('v').set(widest, { merge: true })
    expect(connection.status).toBe('connected')
  })

  test('[K5.1] the client rejects a live state with too many values and stays connected', async () => {
    const { connection, document } = await scene()
    const set = document.liveState('v').set({ a: Array(50_001).fill('a') })
    await expect(set).rejects.toMatchObject({
      status: 'INVALID_ARGUMENT',
      message: 'data must not have more than 49990 strings, arrays and objects.',
    })
    await document.liveState('v').set({ a: 1 })
    expect(connection.status).toBe('connected')
  })

  test('[K6.1] the client throws for an unknown presence status and stays connected', async () => {
    const { connection, document } = await scene()
    expect(() => document.presence.set({ status: 'busy' as never })).toThrow('one of online, away, offline')
    await document.liveState('v').set({ a: 1 })
    expect(connection.status).toBe('connected')
  })
})

describe('message limits on a server with smaller body limits', () => {
  const server = useServer(anyStore, { env: { LIMIT_JSON_DEPTH: '8', LIMIT_JSON_KEYS: '1000' } })

  test('[0.7.4] a live state set at /realtime has the default limits, and a broadcast over REST has the configured limits', async () => {
    const tenant = await given.tenant(server)
    const connection = plenumConnection(server.client(), await tokenFor(tenant))
    const document = connection.document('org_1', 'doc_1')
    await eventually(() => document.status).toBe('connected')
    const documentRef = { organizationId: 'org_1', documentId: 'doc_1', liveStateDataId: 'rest' }
    const widest = Object.fromEntries(Array.from({ length: 9_990 }, (_, key) => [key, 1]))
    const deepest = JSON.parse(`${'{"a":'.repeat(60)}1${'}'.repeat(60)}`)
    for (const data of [widest, deepest]) {
      await document.liveState('realtime').set(data)
      await expect(tenant.client.liveState.broadcast({ ...documentRef, data })).rejects.toMatchObject({
        status: 'INVALID_ARGUMENT',
        message: expect.stringMatching(/ (8 levels|1000 keys)\.$/),
      })
    }
  })
})
