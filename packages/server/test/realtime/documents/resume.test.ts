import { describe, expect, test } from 'vitest'
import { rounds } from '../../support/random/effort.ts'
import * as given from '../../support/given.ts'
import { become, stores, useServer } from '../../support/harness.ts'
import { storedLiveStates } from '../../support/data/live-documents.ts'
import { eventually } from '../../support/clients/convergence.ts'
import { tokenFor } from '../../support/access/user-tokens.ts'
import { createRandom, testSeed } from '../../support/random/random.ts'
import { RealtimeSocket, DocumentView } from '../../support/clients/realtime-socket.ts'

const documentRef = { organizationId: 'org_1', documentId: 'doc_1' }

describe.each(stores)('resuming on %s', (store) => {
  const server = useServer(store, { isOwn: true })
  const connect = async (tenant: given.Tenant, userId = 'ada') =>
    RealtimeSocket.connect(server, await tokenFor(tenant, userId))
  const broadcast = ({ client }: given.Tenant, liveStateDataId: string, data: Record<string, unknown>) =>
    client.liveState.broadcast({ ...documentRef, liveStateDataId, data })

  test('[R11] a client that resumes from a position gets only the changes since then', async () => {
    const tenant = await given.tenant(server)
    for (const id of ['a', 'b', 'c']) await broadcast(tenant, id, { v: 1 })
    const client = await connect(tenant)
    const { position } = await client.open()
    expect(position.seq).toBe(3)
    await client.close()
    await broadcast(tenant, 'b', { v: 2 })
    await broadcast(tenant, 'd', { v: 2 })
    const again = await connect(tenant)
    expect(await again.open('doc_1', { since: position })).toMatchObject({
      reset: false,
      position: { epoch: position.epoch, seq: 5 },
      liveStates: [
        { liveStateDataId: 'b', data: { v: 2 } },
        { liveStateDataId: 'd', data: { v: 2 } },
      ],
      presence: [{ userId: 'ada' }],
    })
    again.send({ type: 'close', ref: 1 })
    const last = await again.open('doc_1', { ref: 2, since: { ...position, seq: 5 } })
    expect(last).toMatchObject({ reset: false, liveStates: [] })
  })

  test('[R11] a client that resumes from a position of another epoch or ahead of the server gets everything', async () => {
    const tenant = await given.tenant(server)
    await broadcast(tenant, 'a', { v: 1 })
    const client = await connect(tenant)
    const { position } = await client.open()
    const invalidPositions = [
      { ...position, seq: 2 },
      { ...position, seq: Number.MAX_SAFE_INTEGER },
      { epoch: 'other', seq: 1 },
      { epoch: position.epoch.toUpperCase(), seq: 0 },
    ]
    for (const [index, since] of invalidPositions.entries()) {
      client.send({ type: 'close', ref: 1 + index })
      expect(await client.open('doc_1', { ref: 2 + index, since })).toMatchObject({
        reset: true,
        position,
        liveStates: [{ liveStateDataId: 'a' }],
      })
    }
    client.send({ type: 'close', ref: 1 + invalidPositions.length })
    expect(await client.open('doc_1', { ref: 9, since: { ...position, seq: 0 } })).toMatchObject({
      reset: false,
      liveStates: [{ liveStateDataId: 'a' }],
    })
  })

  test('[R11] a document that is deleted and created again does not accept positions of the old one', async () => {
    const tenant = await given.tenant(server)
    await broadcast(tenant, 'old', { v: 1 })
    const client = await connect(tenant)
    const { position } = await client.open()
    await client.close()
    await tenant.client.documents.delete({ organizationId: 'org_1', documentIds: ['doc_1'] })
    server.clock.offsetMs += 1
    for (const id of ['new', 'newer']) await broadcast(tenant, id, { v: 1 })
    const again = await connect(tenant)
    const opened = await again.open('doc_1', { since: position })
    expect(opened).toMatchObject({
      reset: true,
      position: { seq: 2 },
      liveStates: [{ liveStateDataId: 'new' }, { liveStateDataId: 'newer' }],
    })
    expect(opened.position.epoch).not.toBe(position.epoch)
  })

  test('[R11] positions stay valid after a restart of the server', async () => {
    const tenant = await given.tenant(server)
    await broadcast(tenant, 'a', { v: 1 })
    const token = await tokenFor(tenant)
    const client = await RealtimeSocket.connect(server, token)
    const { position } = await client.open()
    await client.set('b', { v: 1 })
    const moved = client.take('moved')
    become(server, await server.restart())
    expect((await moved).retryAfterMs).toBeGreaterThanOrEqual(0)
    expect(await client.closed).toMatchObject({ code: 1012 })
    const again = await RealtimeSocket.connect(server, token)
    expect(await again.open('doc_1', { since: position })).toMatchObject({
      reset: false,
      position: { epoch: position.epoch, seq: position.seq + 1 },
      liveStates: [{ liveStateDataId: 'b' }],
    })
  })

  test(
    '[R11.1] a client that keeps reconnecting while other clients write misses no change',
    { timeout: 60_000 * rounds(1) },
    async () => {
      const tenant = await given.tenant(server)
      const next = createRandom(testSeed)
      const backend = server.client({ ...tenant, retries: 5 })
      const token = await tokenFor(tenant)
      const writer = await connect(tenant, 'bob')
      await writer.open('doc_1', { topics: [] })
      const writes = rounds(120)
      let isWriting = true
      const backends = Array.from({ length: 3 }, async (_, who) => {
        for (let n = 0; n < writes / 4; n++) {
          const id = `s${next(6)}`
          await backend.liveState.broadcast({
            ...documentRef,
            liveStateDataId: id,
            data: { [`w${who}`]: n },
            merge: next(2) > 0,
          })
        }
      })
      const socket = (async () => {
        for (let n = 0; n < writes; n++)
          await writer.set(`s${next(6)}`, { socket: n }, { merge: next(2) > 0 })
      })()
      const writing = Promise.all([...backends, socket]).finally(() => {
        isWriting = false
      })

      let view: DocumentView | undefined
      let resumed = 0
      const seen: number[] = []
      for (let isLast = false; ; isLast = !isWriting) {
        const client = await RealtimeSocket.connect(server, token)
        if (view) view.follow(client)
        else view = new DocumentView(client)
        const opened = await client.open('doc_1', { since: view.position })
        if (!opened.reset) resumed++
        if (isLast) break
        const maxMessages = next(8)
        for (let n = 0; n < maxMessages && isWriting; n++)
          await Promise.race([client.take('liveState'), writing])
        // Terminating without a close handshake loses messages in flight.
        client.socket.terminate()
        await client.closed
        seen.push(view.position?.seq ?? 0)
      }
      await writing
      const list = await storedLiveStates(server, tenant)
      const all = Object.fromEntries(list.map((state) => [state.liveStateDataId, state]))
      await eventually(() => Object.fromEntries(view.states)).toEqual(all)
      expect(resumed).toBeGreaterThan(2)
      expect(view.positions).toEqual([...view.positions].sort((a, b) => a - b))
      expect(seen.length).toBeGreaterThan(2)
    },
  )
})
