import { serverMessages } from '@plenum/protocol/messages'
import type {
  ClientMessage,
  LiveStateValue,
  Position,
  PresentUser,
  ServerMessage,
  Topic,
} from '@plenum/protocol/realtime'
import { createValidator } from '../../../src/platform/validation/validator.ts'
import type { TestServer } from '../harness.ts'
import { decodeFrame, type EditorFrame, encodeFrame, type FrameKind } from './editor-frames.ts'
import { socketUrl, TestSocket } from './raw-socket.ts'

type Type = ServerMessage['type']

/** Returns the message. Throws if it does not fit its declaration, or has a field that is not declared (R10.8). */
function fittingMessage({ type, ...fields }: ServerMessage): ServerMessage {
  const validate = validators.get(type)
  const fault = validate ? validate(fields) : 'its type is not declared.'
  if (fault !== undefined) throw new Error(`The server sent ${type} with a fault: ${fault}`)
  return { type, ...fields } as ServerMessage
}

const validators = new Map(
  Object.entries(serverMessages).map(([type, message]) => [
    type,
    createValidator({ ...message.fields, additionalProperties: false }),
  ]),
)
type MessageOf<T extends Type> = Extract<ServerMessage, { type: T }>

/** A WebSocket at `/realtime`. A test sends single messages, and takes single messages of the server. */
export class RealtimeSocket extends TestSocket {
  /** Messages that were not taken yet. */
  readonly messages: ServerMessage[] = []
  /** Frames that were not taken yet. */
  readonly frames: EditorFrame[] = []
  #waiting: (() => void)[] = []
  #lastId = 0

  constructor(
    server: Pick<TestServer, 'url'>,
    { query = '', headers = {} }: { query?: string; headers?: Record<string, string> } = {},
  ) {
    super(socketUrl(server, `/realtime${query}`), { headers })
  }

  protected receive(data: Buffer, isBinary: boolean): void {
    if (isBinary) this.frames.push(decodeFrame(data))
    else this.messages.push(fittingMessage(JSON.parse(data.toString()) as ServerMessage))
    for (const wake of this.#waiting.splice(0)) wake()
  }

  /** Opens a socket, and resolves when the server has accepted the token. */
  static async connect(server: Pick<TestServer, 'url'>, token: string): Promise<RealtimeSocket> {
    const client = new RealtimeSocket(server)
    await client.connected()
    client.send({ type: 'auth', token })
    await client.take('ready')
    return client
  }

  send(message: ClientMessage): void {
    this.socket.send(JSON.stringify(message))
  }

  /** Removes and returns the first message of that type with the given fields. Waits for it if necessary. */
  async take<T extends Type>(type: T, like: Partial<MessageOf<T>> = {}): Promise<MessageOf<T>> {
    const fits = (message: ServerMessage) =>
      message.type === type &&
      Object.entries(like).every(([key, value]) => message[key as keyof ServerMessage] === value)
    return (await this.#take(this.messages, fits, type)) as MessageOf<T>
  }

  /** Removes and returns the first frame of that kind. Waits for it if necessary. */
  async takeFrame(kind: FrameKind, channel = 1): Promise<EditorFrame> {
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

  /** Opens a document, and returns the answer. */
  async open(
    documentId = 'doc_1',
    options: { ref?: number; topics?: Topic[]; since?: Position; organizationId?: string } = {},
  ): Promise<MessageOf<'opened'>> {
    const { ref = 1, topics = ['presence', 'liveState'], organizationId = 'org_1', since } = options
    this.send({ type: 'open', ref, organizationId, documentId, topics, since })
    return this.take('opened', { ref })
  }

  /** Sets a live state and returns the answer. */
  async set(
    liveStateDataId: string,
    data: Record<string, unknown>,
    { ref = 1, merge }: { ref?: number; merge?: boolean } = {},
  ): Promise<MessageOf<'done'> | MessageOf<'error'>> {
    const id = ++this.#lastId
    this.send({ type: 'setLiveState', ref, id, liveStateDataId, data, merge })
    return this.#takeAnswer(id)
  }

  /** Calls an operation, such as `comments.get`, and returns the answer. */
  async call(operation: string, input: object): Promise<MessageOf<'done'> | MessageOf<'error'>> {
    const id = ++this.#lastId
    this.send({ type: 'call', id, operation, input: { ...input } })
    return this.#takeAnswer(id)
  }

  async #takeAnswer(id: number): Promise<MessageOf<'done'> | MessageOf<'error'>> {
    const isAnswer = (message: ServerMessage) =>
      (message.type === 'done' || message.type === 'error') && message.id === id
    return (await this.#take(this.messages, isAnswer, 'answer')) as MessageOf<'done'> | MessageOf<'error'>
  }

  /** Opens an editor of an open document, and returns the answer. */
  async openEditor(editorId = 'note', { ref = 1, channel = 1 } = {}): Promise<MessageOf<'editorOpened'>> {
    this.send({ type: 'openEditor', ref, channel, editorId })
    return this.take('editorOpened', { channel })
  }

  sendFrame(kind: 'syncStep1' | 'awareness', bytes: Uint8Array, channel?: number): void
  sendFrame(kind: 'syncStep2' | 'update', bytes: Uint8Array, channel: number, number: number): void
  sendFrame(kind: FrameKind, bytes: Uint8Array, channel = 1, number?: number): void {
    this.socket.send(encodeFrame(channel, kind, bytes, number))
  }

  /** Waits until the server has processed all sent messages and its answers have arrived. */
  async settled(): Promise<void> {
    this.send({ type: 'ping' })
    await this.take('pong')
  }
}

/** The live states and the presence list of a document, as a client computes them from the messages of the server. */
export class DocumentView {
  readonly states = new Map<string, LiveStateValue>()
  readonly users = new Map<string, PresentUser>()
  position: Position | undefined
  /** Positions in the order of their arrival. */
  readonly positions: number[] = []

  constructor(socket: RealtimeSocket, ref = 1) {
    this.follow(socket, ref)
  }

  /** Applies the messages of a socket to this view. Earlier messages must not have been taken. */
  follow(socket: RealtimeSocket, ref = 1): void {
    const receive = (message: ServerMessage) => {
      if ('ref' in message && message.ref === ref) this.#receive(message)
    }
    for (const message of socket.messages) receive(message)
    socket.socket.on('message', (data: Buffer, isBinary) => {
      if (!isBinary) receive(JSON.parse(data.toString()) as ServerMessage)
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

  /** The data of a live state; undefined if there is none. */
  data(liveStateDataId: string): Record<string, unknown> | undefined {
    return this.states.get(liveStateDataId)?.data
  }

  /** The online status of each present user, sorted by user id. */
  get present(): Record<string, string> {
    const users = [...this.users.values()].sort((a, b) => (a.userId < b.userId ? -1 : 1))
    return Object.fromEntries(users.map(({ userId, onlineStatus }) => [userId, onlineStatus]))
  }
}
