import type { ServerMessage } from '@plenum/protocol/realtime'
import type * as given from '../given.ts'
import type { TestServer } from '../harness.ts'
import { textOf, wordsIn, wordUpdate } from '../random/words.ts'
import { decodeAwareness } from './awareness-messages.ts'
import { decodeFrame } from './editor-frames.ts'
import { RealtimeSocket } from './realtime-socket.ts'

interface ObservedDocument {
  organizationId: string
  documentId: string
  editorIds: readonly string[]
}

/** The word that an observer writes into every editor that it opens. */
export const seed = 'seed'

/** A backend that opens editors of a document, writes a word into each, and records all messages of the server. */
export class Observer {
  /** Resolves when the document is open and every editor has its seed. */
  readonly ready: Promise<void>
  /** Users who were ever in the presence list. */
  readonly present = new Set<string>()
  /** The ids of all live states that were received. */
  readonly liveStates = new Set<string>()
  /** Awareness states as JSON, by editor. */
  readonly #awareness = new Map<string, string[]>()
  readonly #updates = new Map<string, Uint8Array[]>()
  readonly #socket: RealtimeSocket
  readonly #document: ObservedDocument
  #unsaved: number
  #onReady!: () => void
  /** They run after each message. */
  readonly #checks = new Set<() => void>()

  constructor(server: Pick<TestServer, 'url'>, { headers }: given.Tenant, document: ObservedDocument) {
    this.#document = document
    this.#unsaved = document.editorIds.length
    this.ready = new Promise((resolve) => (this.#onReady = resolve))
    this.#socket = new RealtimeSocket(server, { headers })
    this.#socket.socket.on('open', () => this.#openAll())
    this.#socket.socket.on('message', (data: Buffer, isBinary) => {
      if (isBinary) this.#receiveFrame(data)
      else this.#receiveMessage(JSON.parse(data.toString()) as ServerMessage)
      for (const check of this.#checks) check()
    })
  }

  #openAll(): void {
    const { organizationId, documentId, editorIds } = this.#document
    this.#socket.send({ type: 'open', ref: 1, organizationId, documentId, topics: ['presence', 'liveState'] })
    for (const [channel, editorId] of editorIds.entries()) {
      this.#socket.send({ type: 'openEditor', ref: 1, channel, editorId, contentType: 'text' })
      this.write(editorId, seed, 1)
    }
  }

  /** Inserts a word at some place of an editor. */
  write(editorId: string, word: string, number: number): void {
    this.#socket.sendFrame('update', wordUpdate(word), this.#document.editorIds.indexOf(editorId), number)
  }

  /** Resolves with true when the user is in the presence list, and with false after 30 s. */
  sees(userId: string): Promise<boolean> {
    return this.#until(() => this.present.has(userId))
  }

  /** Waits until all messages that the server has sent so far have arrived. */
  async settled(): Promise<void> {
    await this.#socket.settled()
  }

  words(editorId: string): string[] {
    return wordsIn(textOf(...(this.#updates.get(editorId) ?? [])))
  }

  /** Resolves with true when an awareness state with that word was received, and with false after 30 s. */
  receives(editorId: string, word: string): Promise<boolean> {
    return this.#until(() => this.hasReceived(editorId, word))
  }

  /** Resolves with true when the condition holds after a message, and with false after 30 s. */
  #until(condition: () => boolean): Promise<boolean> {
    if (condition()) return Promise.resolve(true)
    return new Promise((resolve) => {
      const end = (found: boolean) => {
        clearTimeout(timer)
        this.#checks.delete(check)
        resolve(found)
      }
      const check = () => condition() && end(true)
      const timer = setTimeout(() => end(false), 30_000)
      this.#checks.add(check)
    })
  }

  /** Whether an awareness state with that word was received. */
  hasReceived(editorId: string, word: string): boolean {
    return this.#awareness.get(editorId)?.some((json) => json.includes(word)) ?? false
  }

  terminate(): void {
    this.#socket.terminate()
  }

  #receiveFrame(data: Buffer): void {
    const { channel, kind, bytes } = decodeFrame(data)
    const editorId = this.#document.editorIds[channel] as string
    if (kind === 'saved' && --this.#unsaved === 0) this.#onReady()
    if (!bytes) return
    if (kind === 'update') {
      this.#updates.set(editorId, [...(this.#updates.get(editorId) ?? []), bytes])
    } else if (kind === 'awareness') {
      const states = decodeAwareness(bytes).map(({ json }) => json)
      this.#awareness.set(editorId, [...(this.#awareness.get(editorId) ?? []), ...states])
    }
  }

  #receiveMessage(message: ServerMessage): void {
    if (message.type === 'opened') {
      this.#record(message.presence ?? [], message.liveStates ?? [])
      if (this.#unsaved === 0) this.#onReady()
    } else if (message.type === 'presence') this.#record(message.users, [])
    else if (message.type === 'liveState') this.#record([], message.states)
  }

  #record(users: readonly { userId: string }[], states: readonly { liveStateDataId: string }[]): void {
    for (const { userId } of users) this.present.add(userId)
    for (const { liveStateDataId } of states) this.liveStates.add(liveStateDataId)
  }
}
