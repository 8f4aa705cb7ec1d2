import { describe, expect, test } from 'vitest'
import * as given from '../../../test/support/given.ts'
import { stores, useServer } from '../../../test/support/harness.ts'
import * as liveStateLog from './live-state-log.ts'
import * as liveStates from './live-states.ts'

describe.each(stores)('the log of live states on %s', (store) => {
  const server = useServer(store, { isOwn: true })
  const documentRef = { organizationId: 'o1', documentId: 'd1' }
  const channel = { ...documentRef, liveStateDataId: 'player' }

  test('[R21] changes of a document are numbered, and a reader can start from any number', async () => {
    const { client, apiKey } = await given.tenant(server)
    const readSince = (seq: number, documentId: string) =>
      liveStateLog.readSince(server.database.read, apiKey, { organizationId: 'o1', documentId }, seq)
    const position = async (documentId = 'd1') => (await readSince(0, documentId))?.position
    const since = async (seq: number) =>
      (await readSince(seq, 'd1'))?.states.map((one) => one.liveStateDataId)
    const set = (liveStateDataId: string, documentId = 'd1') =>
      client.liveState.broadcast({ organizationId: 'o1', documentId, liveStateDataId, data: {} })

    expect(await position()).toBeUndefined()
    await set('a')
    await set('b')
    await set('elsewhere', 'd2')
    await set('a')
    expect(await position()).toEqual({ epoch: expect.stringMatching(/^[0-9a-z]+$/), seq: 3 })
    expect(await position('d2')).toMatchObject({ seq: 1 })
    expect(await since(0)).toEqual(['a', 'b'])
    expect(await since(2)).toEqual(['a'])
    expect(await since(3)).toEqual([])
  })

  test('[R21] a deleted and recreated document has a new epoch', async () => {
    const { client, apiKey } = await given.tenant(server)
    const position = async () =>
      (await liveStateLog.readSince(server.database.read, apiKey, documentRef, 0))?.position
    await client.liveState.broadcast({ ...channel, data: {} })
    const before = await position()
    await client.documents.delete({ organizationId: 'o1', documentIds: ['d1'] })
    expect(await position()).toBeUndefined()
    server.clock.offsetMs += 1000
    await client.liveState.broadcast({ ...channel, data: {} })
    const after = await position()
    expect(after).toMatchObject({ seq: 1 })
    expect(after?.epoch).not.toBe(before?.epoch)
  })

  test('[R9] liveStates.set stores nothing for a document that does not exist', async () => {
    const { apiKey } = await given.tenant(server)
    const gone = { organizationId: 'o1', documentId: 'gone' }
    const change = { liveStateDataId: 'a', data: '{}', merge: false, userId: 'u1' }
    const set = server.database.write((db) => liveStates.set(db, apiKey, gone, [change], Date.now()))
    expect(await set).toBeUndefined()
  })
})
