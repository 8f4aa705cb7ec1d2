import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { DocumentIndex } from '../../../src/crdt/updates/document-index.ts'
import { burstOf, sendBurst, yjsUpdate } from '../../support/clients/bursts.ts'
import { countStep, expectShortIterations } from '../../support/measures/loop-work.ts'
import * as given from '../../support/given.ts'
import { anyStore, stores, type TestServer, useServer } from '../../support/harness.ts'
import { eventually } from '../../support/clients/convergence.ts'
import { RawSocket } from '../../support/clients/raw-socket.ts'
import { tokenFor } from '../../support/access/user-tokens.ts'
import { dialects, rawClient } from '../../support/clients/raw-clients.ts'
import { type Content, text, update } from '../../support/updates/scenes.ts'

const client = 7

/** Returns an update that appends content after the previous struct of the client. */
function typed(clock: number, content: Content): Uint8Array {
  const position = clock > 0 ? { origin: [client, clock - 1] as const } : { parent: 'content' }
  return update({ structs: [{ client, clock, structs: [{ ...position, content }] }] })
}
const deleted = (clocks: readonly number[]) =>
  update({ deletes: [{ client, ranges: clocks.map((clock) => [clock, 1] as const) }] })
const times = <T>(count: number, make: (index: number) => T) =>
  Array.from({ length: count }, (_, i) => make(i))

const connect = (server: TestServer, token: string, name: string) =>
  RawSocket.connect(server, `/yjs/${name}?token=${token}`)

/** Sends an empty update and resolves when it comes back, because all updates before it are stored then. */
async function settled({ socket }: RawSocket): Promise<void> {
  const receipt = Buffer.from(yjsUpdate(Uint8Array.of(0, 0)))
  const received = new Promise<void>((resolve) => {
    const listen = (data: Buffer) => {
      if (!data.equals(receipt)) return
      socket.off('message', listen)
      resolve()
    }
    socket.on('message', listen)
  })
  socket.send(receipt)
  await received
}

/** How many updates a server may check in one iteration of the event loop. A snapshot may be written meanwhile. */
const limits = { steps: 10, rowBytes: 4 * 1024 * 1024 }

/** Counts each update that a server checks as a step. */
function countChecks(): void {
  const { check } = DocumentIndex.prototype
  beforeAll(() => {
    vi.spyOn(DocumentIndex.prototype, 'check').mockImplementation(function (this: DocumentIndex, ...args) {
      countStep()
      return check.apply(this, args)
    })
  })
  afterAll(() => void vi.restoreAllMocks())
}

describe('bursts of messages', () => {
  countChecks()
  const server = useServer(anyStore)

  test('[S2] [S8.2] 10 KB of one-character deletes in an editor with 20,000 deleted ranges do not block the event loop', async () => {
    const tenant = await given.tenant(server)
    const socket = await connect(server, await tokenFor(tenant), 'org_1/doc_1/note')
    const ranges = 20_000
    const large = [typed(0, text('x'.repeat(ranges * 4))), deleted(times(ranges, (i) => i * 4))]
    sendBurst(socket.socket, burstOf(large.map(yjsUpdate)))
    await settled(socket)

    const flood = burstOf(times(200, (i) => yjsUpdate(deleted(times(9, (j) => (i * 9 + j) * 4 + 2)))))
    await expectShortIterations(async () => {
      sendBurst(socket.socket, flood)
      await settled(socket)
    }, limits)
  }, 120_000)

  test('[S2] [S8.2] 60 updates that wait for a missing struct do not block the event loop while 500 updates arrive', async () => {
    const tenant = await given.tenant(server)
    const socket = await connect(server, await tokenFor(tenant), 'org_1/doc_1/note')
    // The last struct of each update refers to a struct that never arrives.
    const structs = [
      ...times(150, (i) => ({ ...(i > 0 && { origin: [9, i - 1] as const }), content: text('x') })),
    ]
    const early = times(60, () =>
      update({
        structs: [{ client: 9, clock: 0, structs: [...structs, { origin: [8, 0], content: text('x') }] }],
      }),
    )
    const flood = burstOf([
      ...early.map(yjsUpdate),
      ...times(500, (clock) => yjsUpdate(typed(clock, text('x')))),
    ])
    await expectShortIterations(async () => {
      sendBurst(socket.socket, flood)
      await settled(socket)
    }, limits)
  }, 120_000)
})

describe.each(stores)('bursts of messages on %s', (store) => {
  countChecks()
  const server = useServer(store)

  async function read(token: string, editorId: string): Promise<string | undefined> {
    const reader = rawClient(server, 'yjs', { organizationId: 'org_1', documentId: 'doc_1', editorId, token })
    const text = await reader.read()
    reader.terminate()
    return text
  }

  test('[S2] [S8] concurrent bursts of many sockets do not block the event loop and are stored completely', async () => {
    const tenant = await given.tenant(server)
    const token = await tokenFor(tenant)
    const sockets = await Promise.all(times(10, (i) => connect(server, token, `org_1/doc_1/note${i}`)))
    const count = 500
    const burst = burstOf(times(count, (clock) => yjsUpdate(typed(clock, text(`${clock % 10}`)))))
    await expectShortIterations(async () => {
      // The bursts arrive before access is checked and the editors are loaded.
      for (const socket of sockets) sendBurst(socket.socket, burst)
      await Promise.all(sockets.map(settled))
    }, limits)
    const expected = times(count, (i) => i % 10).join('')
    for (const i of sockets.keys()) expect(await read(token, `note${i}`)).toBe(expected)
  }, 120_000)

  test.each(dialects)(
    '[R1.4] a burst at /%s from a client that disconnects at once is stored',
    async (dialect) => {
      const tenant = await given.tenant(server)
      await given.document(tenant)
      const target = {
        organizationId: 'org_1',
        documentId: 'doc_1',
        editorId: 'note',
        token: await tokenFor(tenant),
      }
      const ada = rawClient(server, dialect, target)
      await ada.opened()
      const count = 500
      const flood = times(count, (clock) =>
        ada.encode('update', typed(clock, text(`${clock % 10}`)), clock + 1),
      )
      sendBurst(ada.socket, burstOf(flood))
      ada.socket.close()
      const stored = async () => (await read(target.token, 'note'))?.length
      await eventually(stored).toBe(count)
    },
    120_000,
  )
})
