import * as decoding from 'lib0/decoding'
import { onTestFinished } from 'vitest'
import type { WebSocket } from 'ws'
import * as Y from 'yjs'
import type { TestServer } from '../harness.ts'
import { createRandom } from '../random/random.ts'
import { hocuspocusClient } from './hocuspocus-client.ts'
import { yjsClient } from './yjs-client.ts'

/** A stock client that types words and records which of them the server has confirmed. */
export interface Typist {
  name: string
  doc: Y.Doc
  /** All words, and those of them that the server has confirmed, both in the order of typing. */
  typed: string[]
  confirmed: string[]
  isReady(): boolean
  /** Types until it is stopped, a few words ahead of the confirmations. Waits while it is not connected. */
  type(): Promise<void>
  stop(): void
}

const maxUnconfirmed = 5

function createTypist(name: string, doc: Y.Doc, prefix: string, isConnected: () => boolean): Typist {
  const typed: string[] = []
  const random = createRandom()
  let running = false
  const typist: Typist = {
    name,
    doc,
    typed,
    confirmed: [],
    isReady: isConnected,
    async type() {
      running = true
      const text = doc.getText('content')
      while (running) {
        if (isConnected() && typed.length - typist.confirmed.length < maxUnconfirmed) {
          const word = `<${prefix}.${typed.length}>`
          typed.push(word)
          text.insert(random(3) === 0 ? 0 : text.length, word)
        }
        await new Promise((later) => setTimeout(later, 1))
      }
    },
    stop() {
      running = false
    },
  }
  onTestFinished(() => typist.stop())
  return typist
}

/** A word is confirmed when the server sends it back. */
export function yjsTypist(
  server: Pick<TestServer, 'url'>,
  token: string,
  name: string,
  prefix: string,
): Typist {
  const { provider, doc } = yjsClient(server, token, { name })
  const typist = createTypist(name, doc, prefix, () => provider.synced)
  const clocks: number[] = []
  doc.on('update', (_update: Uint8Array, origin: unknown) => {
    if (origin !== provider) clocks.push(Y.getState(doc.store, doc.clientID))
  })
  const listen = (socket: WebSocket) =>
    socket.on('message', (data: ArrayBuffer) => {
      const decoder = decoding.createDecoder(new Uint8Array(data))
      if (decoding.readVarUint(decoder) !== 0 || decoding.readVarUint(decoder) !== 2) return
      const { structs } = Y.decodeUpdate(decoding.readVarUint8Array(decoder))
      for (const { id, length } of structs) {
        if (id.client !== doc.clientID) continue
        while (clocks.length > 0 && (clocks[0] as number) <= id.clock + length) {
          clocks.shift()
          typist.confirmed.push(typist.typed[typist.confirmed.length] as string)
        }
      }
    })
  provider.on('status', ({ status }) => {
    if (status === 'connected') listen(provider.ws as unknown as WebSocket)
  })
  return typist
}

/** A word is confirmed when a `SyncStatus` message says so. */
export function hocuspocusTypist(
  server: Pick<TestServer, 'url'>,
  token: string,
  name: string,
  prefix: string,
): Typist {
  const { provider, doc } = hocuspocusClient(server, token, { name })
  const typist = createTypist(name, doc, prefix, () => provider.isSynced)
  let isExact = true
  provider.on('unsyncedChanges', ({ number }: { number: number }) => {
    // When it connects again, the provider counts all earlier changes as one.
    isExact = number === 0 || (isExact && provider.isSynced)
    if (!isExact) return
    const count = typist.typed.length - number
    while (typist.confirmed.length < count)
      typist.confirmed.push(typist.typed[typist.confirmed.length] as string)
  })
  return typist
}
