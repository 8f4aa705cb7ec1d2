import * as decoding from 'lib0/decoding'
import * as encoding from 'lib0/encoding'
import { type ClientMessage, editorFrames, type ServerMessage } from '@plenum/protocol/realtime'
import { WebSocket } from 'ws'
import type * as given from '../given.ts'
import type { TestServer } from '../harness.ts'
import { awarenessIn, textOf, wordsIn, wordUpdate } from '../words.ts'

interface Watched {
  organizationId: string
  documentId: string
  editorIds: readonly string[]
}

/** The word that a witness writes into every editor it creates. */
export const seed = 'seed'

/** A backend that opens editors of a document, writes a word into each, and records what it receives. */
export class Witness {
  /** Resolves when the document is open and every editor has its seed. */
  readonly ready: Promise<void>
  /** Users who were ever in the presence list. */
  readonly present = new Set<string>()
  /** The ids of all live states that were received. */
  readonly liveStates = new Set<string>()
  /** Awareness states as JSON, by editor. */
  readonly #awareness = new Map<string, string[]>()
  readonly #updates = new Map<string, Uint8Array[]>()
  readonly #socket: WebSocket
  readonly #watched: Watched
  #unsaved: number
  #ready!: () => void
  #pongs: (() => void)[] = []
  readonly #awaited = new Map<string, () => void>()

  constructor({ url }: Pick<TestServer, 'url'>, { headers }: given.Tenant, watched: Watched) {
    this.#watched = watched
    this.#unsaved = watched.editorIds.length
    this.ready = new Promise((resolve) => (this.#ready = resolve))
    this.#socket = new WebSocket(`${url.replace(/^http/, 'ws')}/realtime`, {
      headers,
      perMessageDeflate: false,
    })
    this.#socket.on('error', () => {})
    this.#socket.on('open', () => this.#begin())
    this.#socket.on('message', (data: Buffer, isBinary) => {
      if (isBinary) this.#receiveFrame(decoding.createDecoder(data))
      else this.#receiveMessage(JSON.parse(data.toString()) as ServerMessage)
    })
  }

  #begin(): void {
    const { organizationId, documentId, editorIds } = this.#watched
    this.#send({ type: 'open', ref: 1, organizationId, documentId, topics: ['presence', 'liveState'] })
    for (const [channel, editorId] of editorIds.entries()) {
      this.#send({ type: 'openEditor', ref: 1, channel, editorId, contentType: 'text' })
      this.write(editorId, seed, 1)
    }
  }

  /** Types a word. */
  write(editorId: string, word: string, number: number): void {
    this.#socket.send(
      encoding.encode((encoder) => {
        encoding.writeVarUint(encoder, this.#watched.editorIds.indexOf(editorId))
        for (const value of [editorFrames.update, number]) encoding.writeVarUint(encoder, value)
        encoding.writeVarUint8Array(encoder, wordUpdate(word))
      }),
    )
  }

  /** Whether the user appears in the presence list, now or soon. */
  sees(userId: string): Promise<boolean> {
    if (this.present.has(userId)) return Promise.resolve(true)
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(false), 30_000)
      this.#awaited.set(userId, () => {
        clearTimeout(timer)
        resolve(true)
      })
    })
  }

  /** Waits until all messages that the server has sent so far have arrived. */
  async caughtUp(): Promise<void> {
    const pong = new Promise<void>((resolve) => this.#pongs.push(resolve))
    this.#send({ type: 'ping' })
    await pong
  }

  words(editorId: string): string[] {
    return wordsIn(textOf(...(this.#updates.get(editorId) ?? [])))
  }

  hasHeard(editorId: string, word: string): boolean {
    return this.#awareness.get(editorId)?.some((json) => json.includes(word)) ?? false
  }

  close(): void {
    this.#socket.terminate()
  }

  #send(message: ClientMessage): void {
    this.#socket.send(JSON.stringify(message))
  }

  #receiveFrame(decoder: decoding.Decoder): void {
    const editorId = this.#watched.editorIds[decoding.readVarUint(decoder)] as string
    const kind = decoding.readVarUint(decoder)
    if (kind === editorFrames.saved && --this.#unsaved === 0) this.#ready()
    if (kind !== editorFrames.update && kind !== editorFrames.awareness) return
    const bytes = decoding.readVarUint8Array(decoder)
    if (kind === editorFrames.update) {
      this.#updates.set(editorId, [...(this.#updates.get(editorId) ?? []), bytes])
    } else {
      const states = awarenessIn(bytes).map(({ json }) => json)
      this.#awareness.set(editorId, [...(this.#awareness.get(editorId) ?? []), ...states])
    }
  }

  #receiveMessage(message: ServerMessage): void {
    if (message.type === 'pong') this.#pongs.shift()?.()
    if (message.type === 'opened') {
      this.#remember(message.presence ?? [], message.liveStates ?? [])
      if (this.#unsaved === 0) this.#ready()
    } else if (message.type === 'presence') this.#remember(message.users, [])
    else if (message.type === 'liveState') this.#remember([], message.states)
  }

  #remember(users: readonly { userId: string }[], states: readonly { liveStateDataId: string }[]): void {
    for (const { userId } of users) {
      this.present.add(userId)
      this.#awaited.get(userId)?.()
    }
    for (const { liveStateDataId } of states) this.liveStates.add(liveStateDataId)
  }
}
