import type { ClientMessage, ServerMessage } from '@plenum/protocol/realtime'
import type { TestServer } from '../harness.ts'
import { decodeFrame, encodeFrame } from './editor-frames.ts'
import {
  type AwarenessOutcome,
  type EditorTarget,
  type MessageKind,
  type PendingWrite,
  RawClient,
  type WriteOutcome,
} from './raw-client.ts'
import { socketUrl } from './raw-socket.ts'

/** A client of `/realtime` with one document and one editor. `RealtimeSocket` is for single messages. */
export class RawRealtime extends RawClient {
  /** The index is the id of the request. */
  readonly #settlers: ((outcome: WriteOutcome) => void)[] = []
  readonly #receivedPresence: string[] = []

  constructor(server: Pick<TestServer, 'url'>, target: EditorTarget) {
    super(socketUrl(server, '/realtime'), target)
  }

  protected firstMessages({ token, organizationId, documentId, editorId }: EditorTarget): string[] {
    const messages: ClientMessage[] = [
      { type: 'open', ref: 1, organizationId, documentId, topics: ['presence', 'liveState'] },
      { type: 'openEditor', ref: 1, channel: 1, editorId },
    ]
    if (token !== undefined) messages.unshift({ type: 'auth', token })
    return messages.map((message) => JSON.stringify(message))
  }

  encode(kind: MessageKind, bytes: Uint8Array, number: number): Uint8Array {
    return encodeFrame(1, kind, bytes, kind === 'syncStep2' || kind === 'update' ? number : undefined)
  }

  setLiveState(liveStateDataId: string, data: Record<string, unknown>): Promise<WriteOutcome> {
    return this.#request((id) => ({ type: 'setLiveState', ref: 1, id, liveStateDataId, data }))
  }

  addVersion(name: string): Promise<WriteOutcome> {
    return this.#request((id) => ({ type: 'addVersion', channel: 1, id, name }))
  }

  async listVersions(): Promise<'listed' | 'refused'> {
    const outcome = await this.#request((id) => ({ type: 'listVersions', channel: 1, id }))
    return outcome === 'saved' ? 'listed' : 'refused'
  }

  #request(message: (id: number) => ClientMessage): Promise<WriteOutcome> {
    const outcome = new Promise<WriteOutcome>((settle) => this.#settlers.push(settle))
    this.send(JSON.stringify(message(this.#settlers.length - 1)))
    return this.unlessEnded<WriteOutcome>(outcome, 'refused')
  }

  /** Sets the client's presence data. `broadcast`: the server sent it to the clients of the document, this one included. */
  setPresence(word: string): Promise<AwarenessOutcome> {
    const message: ClientMessage = { type: 'setPresence', ref: 1, data: { word } }
    this.send(JSON.stringify(message))
    const broadcast = this.until(() => this.#receivedPresence.includes(word)).then(() => 'broadcast' as const)
    return this.unlessEnded<AwarenessOutcome>(broadcast, 'refused')
  }

  protected receive(data: Buffer, isBinary: boolean): void {
    if (isBinary) this.#receiveFrame(data)
    else this.#receiveMessage(JSON.parse(data.toString()) as ServerMessage)
  }

  #receiveFrame(data: Buffer): void {
    const { kind, number = 0, reason = '', bytes = new Uint8Array() } = decodeFrame(data)
    if (kind === 'saved') this.#settle((write) => write.number <= number, 'saved')
    else if (kind === 'refused') {
      this.refusalTexts.push(reason)
      this.#settle((write) => write.number === number, 'refused')
    } else this.onMessage(kind, bytes)
  }

  #settle(fits: (write: PendingWrite) => boolean, outcome: WriteOutcome): void {
    for (const write of this.writes.filter(fits)) write.settle(outcome)
    this.writes = this.writes.filter((write) => !fits(write))
  }

  #receiveMessage(message: ServerMessage): void {
    if (message.type === 'editorOpened') {
      this.roles.push(message.accessRole)
      this.onOpened()
    } else if (message.type === 'access') this.roles.push(message.accessRole)
    else if (message.type === 'closed' || message.type === 'editorClosed') {
      this.onEnded({ code: message.code, reason: message.reason })
    } else if (message.type === 'done') this.#settlers[message.id]?.('saved')
    else if (message.type === 'error') {
      this.refusalTexts.push(`${message.status}: ${message.message}`)
      if (message.id !== undefined) this.#settlers[message.id]?.('refused')
    } else if (message.type === 'presence' || message.type === 'opened') {
      const users = message.type === 'opened' ? message.presence : message.users
      for (const { data } of users ?? []) {
        if (typeof data?.word === 'string') this.#receivedPresence.push(data.word)
      }
    }
  }
}
