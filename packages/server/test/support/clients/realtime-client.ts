import * as decoding from 'lib0/decoding'
import * as encoding from 'lib0/encoding'
import {
  type ClientMessage,
  editorFrames,
  type LiveStateValue,
  type Position,
  type PresentUser,
  type ServerMessage,
  type Topic,
} from '@plenum/protocol/realtime'
import { onTestFinished } from 'vitest'
import { WebSocket } from 'ws'
import type { TestServer } from '../harness.ts'

type Type = ServerMessage['type']
type Of<T extends Type> = Extract<ServerMessage, { type: T }>

export interface EditorFrame {
  channel: number
  kind: keyof typeof editorFrames
  /** Only in `saved` and `refused`. */
  number?: number
  reason?: string
  bytes?: Uint8Array
}

/** A client of the `/realtime` protocol that sends and takes single messages. */
export class RealtimeClient {
  readonly socket: WebSocket
  /** Messages that were not taken yet. */
  readonly messages: ServerMessage[] = []
  readonly frames: EditorFrame[] = []
  readonly closed: Promise<{ code: number; reason: string }>
  #waiting: (() => void)[] = []
  #ids = 0

  constructor(
    { url }: Pick<TestServer, 'url'>,
    { query = '', headers = {} }: { query?: string; headers?: Record<string, string> } = {},
  ) {
    this.socket = new WebSocket(`${url.replace(/^http/, 'ws')}/realtime${query}`, { headers })
    this.socket.on('error', () => {})
    this.socket.on('message', (data: Buffer, isBinary) => {
      if (isBinary) this.frames.push(decodeFrame(data))
      else this.messages.push(JSON.parse(data.toString()) as ServerMessage)
      for (const wake of this.#waiting.splice(0)) wake()
    })
    this.closed = new Promise((resolve) => {
      this.socket.once('close', (code, reason) => resolve({ code, reason: reason.toString() }))
    })
    // Not with `afterEach`: it would apply only to the first of the files that share this module.
    onTestFinished(() => this.socket.terminate())
  }

  /** Connects and authenticates a client. */
  static async connect(server: Pick<TestServer, 'url'>, token: string): Promise<RealtimeClient> {
    const client = new RealtimeClient(server)
    await client.connected()
    client.send({ type: 'auth', token })
    await client.take('ready')
    return client
  }

  async connected(): Promise<void> {
    if (this.socket.readyState === WebSocket.OPEN) return
    await new Promise((resolve) => this.socket.once('open', resolve))
  }

  send(message: ClientMessage): void {
    this.socket.send(JSON.stringify(message))
  }

  /** Takes the first message of that type with the given fields. Waits for it if necessary. */
  async take<T extends Type>(type: T, like: Partial<Of<T>> = {}): Promise<Of<T>> {
    const fits = (message: ServerMessage) =>
      message.type === type &&
      Object.entries(like).every(([key, value]) => message[key as keyof ServerMessage] === value)
    return (await this.#take(this.messages, fits, type)) as Of<T>
  }

  async takeFrame(kind: keyof typeof editorFrames, channel = 1): Promise<EditorFrame> {
    return this.#take(this.frames, (frame) => frame.kind === kind && frame.channel === channel, kind)
  }

  async #take<T>(from: T[], fits: (item: T) => boolean, what: string): Promise<T> {
    const until = Date.now() + 30_000
    for (;;) {
      const index = from.findIndex(fits)
      if (index >= 0) return from.splice(index, 1)[0] as T
      if (Date.now() > until)
        throw new Error(`No ${what} came; last: ${JSON.stringify(from.slice(-3)).slice(0, 300)}`)
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, 1_000)
        this.#waiting.push(() => {
          clearTimeout(timer)
          resolve()
        })
      })
    }
  }

  async open(
    documentId = 'doc_1',
    options: { ref?: number; topics?: Topic[]; since?: Position; organizationId?: string } = {},
  ): Promise<Of<'opened'>> {
    const { ref = 1, topics = ['presence', 'liveState'], organizationId = 'org_1', since } = options
    this.send({ type: 'open', ref, organizationId, documentId, topics, since })
    return this.take('opened', { ref })
  }

  /** Sets a live state and returns the answer. */
  async set(
    liveStateDataId: string,
    data: Record<string, unknown>,
    { ref = 1, merge }: { ref?: number; merge?: boolean } = {},
  ): Promise<Of<'done'> | Of<'error'>> {
    const id = ++this.#ids
    this.send({ type: 'setLiveState', ref, id, liveStateDataId, data, merge })
    const isAnswer = (message: ServerMessage) =>
      (message.type === 'done' || message.type === 'error') && message.id === id
    return (await this.#take(this.messages, isAnswer, 'answer')) as Of<'done'> | Of<'error'>
  }

  async openEditor(editorId = 'note', { ref = 1, channel = 1 } = {}): Promise<Of<'editorOpened'>> {
    this.send({ type: 'openEditor', ref, channel, editorId })
    return this.take('editorOpened', { channel })
  }

  sendFrame(kind: 'syncStep1' | 'awareness', bytes: Uint8Array, channel?: number): void
  sendFrame(kind: 'syncStep2' | 'update', bytes: Uint8Array, channel: number, number: number): void
  sendFrame(kind: keyof typeof editorFrames, bytes: Uint8Array, channel = 1, number?: number): void {
    const encoder = encoding.createEncoder()
    encoding.writeVarUint(encoder, channel)
    encoding.writeVarUint(encoder, editorFrames[kind])
    if (number !== undefined) encoding.writeVarUint(encoder, number)
    encoding.writeVarUint8Array(encoder, bytes)
    this.socket.send(encoding.toUint8Array(encoder))
  }

  /** Waits until the server has processed all sent messages and its answers have arrived. */
  async settled(): Promise<void> {
    this.send({ type: 'ping' })
    await this.take('pong')
  }

  async close(): Promise<void> {
    this.socket.close()
    await this.closed
  }
}

function decodeFrame(data: Buffer): EditorFrame {
  const decoder = decoding.createDecoder(data)
  const channel = decoding.readVarUint(decoder)
  const number = decoding.readVarUint(decoder)
  const kinds = Object.keys(editorFrames) as (keyof typeof editorFrames)[]
  const kind = kinds.find((name) => editorFrames[name] === number) as keyof typeof editorFrames
  if (kind === 'saved') return { channel, kind, number: decoding.readVarUint(decoder) }
  if (kind === 'refused') {
    return {
      channel,
      kind,
      number: decoding.readVarUint(decoder),
      reason: decoding.readVarString(decoder),
    }
  }
  return { channel, kind, bytes: decoding.readVarUint8Array(decoder) }
}

/** The state of a document that a client derives from its messages. */
export class View {
  readonly states = new Map<string, LiveStateValue>()
  readonly users = new Map<string, PresentUser>()
  position: Position | undefined
  /** Positions in the order of their arrival. */
  readonly positions: number[] = []

  constructor(client: RealtimeClient, ref = 1) {
    this.follow(client, ref)
  }

  /** Follows the messages of a client. Earlier messages must not have been taken. */
  follow(client: RealtimeClient, ref = 1): void {
    const take = (message: ServerMessage) => {
      if ('ref' in message && message.ref === ref) this.#receive(message)
    }
    for (const message of client.messages) take(message)
    client.socket.on('message', (data: Buffer, isBinary) => {
      if (!isBinary) take(JSON.parse(data.toString()) as ServerMessage)
    })
  }

  #receive(message: ServerMessage): void {
    if (message.type === 'opened') {
      if (message.reset) this.states.clear()
      this.users.clear()
      this.#set(message.liveStates ?? [], message.position)
      for (const user of message.presence ?? []) this.users.set(user.userId, user)
    } else if (message.type === 'liveState') this.#set(message.states, message.position)
    else if (message.type === 'presence') {
      for (const user of message.users) this.users.set(user.userId, user)
      for (const userId of message.left) this.users.delete(userId)
    }
  }

  #set(states: readonly LiveStateValue[], position: Position): void {
    for (const state of states) this.states.set(state.liveStateDataId, state)
    this.position = position
    this.positions.push(position.seq)
  }

  data(liveStateDataId: string): Record<string, unknown> | undefined {
    return this.states.get(liveStateDataId)?.data
  }

  /** User ids with their status, by id. */
  get present(): Record<string, string> {
    const users = [...this.users.values()].sort((a, b) => (a.userId < b.userId ? -1 : 1))
    return Object.fromEntries(users.map(({ userId, onlineStatus }) => [userId, onlineStatus]))
  }
}
