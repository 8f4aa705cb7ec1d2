import * as decoding from 'lib0/decoding'
import * as encoding from 'lib0/encoding'
import { type ClientMessage, editorFrames, type ServerMessage } from '@plenum/protocol/realtime'
import type { TestServer } from '../harness.ts'
import { type Door, type Kind, RawClient, type Told, type Write, type Written } from './raw-client.ts'
import { covers, isNothing, nothing } from '../words.ts'

export const dialects = ['yjs', 'y-sweet', 'hocuspocus', 'realtime'] as const
export type Dialect = (typeof dialects)[number]

/** Whether the server sends clients of the dialect their role. */
export const tellsRole = (dialect: Dialect) => dialect === 'hocuspocus' || dialect === 'realtime'

const syncKinds = ['syncStep1', 'syncStep2', 'update'] as const

function readSync(decoder: decoding.Decoder, onMessage: (kind: Kind, bytes: Uint8Array) => void): void {
  const kind = syncKinds[decoding.readVarUint(decoder)] as Kind
  onMessage(kind, decoding.readVarUint8Array(decoder))
}

/** Writes a message like y-websocket and Hocuspocus, after the prefix of the dialect. */
function writeYjs(encoder: encoding.Encoder, kind: Kind, bytes: Uint8Array): void {
  if (kind === 'awareness') encoding.writeVarUint(encoder, 1)
  else for (const number of [0, syncKinds.indexOf(kind)]) encoding.writeVarUint(encoder, number)
  encoding.writeVarUint8Array(encoder, bytes)
}

class RawYjs extends RawClient {
  readonly #received: Uint8Array[] = []

  constructor({ url }: Pick<TestServer, 'url'>, door: Door, path = `/yjs/${nameOf(door)}`) {
    const query = door.token === undefined ? '' : `?token=${door.token}`
    super(`${ws(url)}${path}${query}`, door)
  }

  protected greetingFor(): Uint8Array[] {
    return []
  }

  protected frame(kind: Kind, bytes: Uint8Array): Uint8Array {
    return encoding.encode((encoder) => writeYjs(encoder, kind, bytes))
  }

  override update(update: Uint8Array): Promise<Written> {
    return this.#withReceipt(super.update(update))
  }

  override syncStep2(update: Uint8Array): Promise<Written> {
    return this.#withReceipt(super.syncStep2(update))
  }

  /** A refusal may have no answer, so an empty update follows, which is always acknowledged. */
  #withReceipt(outcome: Promise<Written>): Promise<Written> {
    this.send(this.frame('syncStep2', nothing))
    this.requestReceipt()
    return outcome
  }

  protected requestReceipt(): void {}

  protected onReceipt(): void {
    const [first] = this.writes
    if (first)
      this.settleFirst(this.#received.some((update) => covers(update, first.update)) ? 'saved' : 'refused')
  }

  protected receive(data: Buffer): void {
    const decoder = decoding.createDecoder(data)
    const type = decoding.readVarUint(decoder)
    if (type === 0) {
      readSync(decoder, (kind, bytes) => {
        this.onMessage(kind, bytes)
        if (kind === 'syncStep1') this.open()
      })
    } else if (type === 1) this.onMessage('awareness', decoding.readVarUint8Array(decoder))
    else if (type === 2 && decoding.readVarUint(decoder) === 0) {
      this.denials.push(decoding.readVarString(decoder))
    }
  }

  protected override onUpdate(update: Uint8Array): void {
    if (isNothing(update)) this.onReceipt()
    else this.#received.push(update)
  }
}

class RawYSweet extends RawYjs {
  #asked = 0
  #answered = 0

  constructor(server: Pick<TestServer, 'url'>, door: Door) {
    super(server, door, `/y-sweet/d/${nameOf(door)}/ws/${nameOf(door)}`)
  }

  /** Sends one version per write; an answer also acknowledges all earlier versions. */
  protected override requestReceipt(): void {
    const version = encoding.encode((encoder) => encoding.writeVarUint(encoder, ++this.#asked))
    this.send(
      encoding.encode((encoder) => {
        encoding.writeVarUint(encoder, 102)
        encoding.writeVarUint8Array(encoder, version)
      }),
    )
  }

  protected override receive(data: Buffer): void {
    const decoder = decoding.createDecoder(data)
    if (decoding.readVarUint(decoder) !== 102) return super.receive(data)
    const version = decoding.readVarUint(decoding.createDecoder(decoding.readVarUint8Array(decoder)))
    for (; this.#answered < version; this.#answered++) this.onReceipt()
  }
}

class RawHocuspocus extends RawClient {
  readonly #name: string

  constructor({ url }: Pick<TestServer, 'url'>, door: Door) {
    super(`${ws(url)}/hocuspocus`, door)
    this.#name = nameOf(door)
  }

  protected greetingFor(door: Door): Uint8Array[] {
    return [
      encoding.encode((encoder) => {
        encoding.writeVarString(encoder, nameOf(door))
        for (const number of [2, 0]) encoding.writeVarUint(encoder, number)
        encoding.writeVarString(encoder, door.token ?? '')
      }),
    ]
  }

  protected frame(kind: Kind, bytes: Uint8Array): Uint8Array {
    return encoding.encode((encoder) => {
      encoding.writeVarString(encoder, this.#name)
      writeYjs(encoder, kind, bytes)
    })
  }

  protected receive(data: Buffer): void {
    const decoder = decoding.createDecoder(data)
    if (decoding.readVarString(decoder) !== this.#name) return
    const type = decoding.readVarUint(decoder)
    if (type === 0) readSync(decoder, (kind, bytes) => this.onMessage(kind, bytes))
    else if (type === 1) this.onMessage('awareness', decoding.readVarUint8Array(decoder))
    else if (type === 2) this.#onAuth(decoding.readVarUint(decoder), decoder)
    else if (type === 5) this.denials.push(JSON.parse(decoding.readVarString(decoder)).error.message)
    else if (type === 7) this.denials.push(`Close: ${decoding.readVarString(decoder)}`)
    else if (type === 8) this.settleFirst(decoding.readVarUint(decoder) === 1 ? 'saved' : 'refused')
  }

  #onAuth(type: number, decoder: decoding.Decoder): void {
    if (type === 1) {
      const reason = decoding.readVarString(decoder)
      this.denials.push(reason)
      this.end({ reason })
    } else if (type === 2) {
      this.roles.push(decoding.readVarString(decoder) === 'readonly' ? 'viewer' : 'editor')
      this.open()
    }
  }
}

export class RawRealtime extends RawClient {
  /** The index is the id of the request. */
  readonly #outcomes: ((outcome: Written) => void)[] = []
  readonly #presences: string[] = []

  constructor({ url }: Pick<TestServer, 'url'>, door: Door) {
    super(`${ws(url)}/realtime`, door)
  }

  protected greetingFor({ token, organizationId, documentId, editorId }: Door): string[] {
    const messages: ClientMessage[] = [
      { type: 'open', ref: 1, organizationId, documentId, topics: ['presence', 'liveState'] },
      { type: 'openEditor', ref: 1, channel: 1, editorId },
    ]
    if (token !== undefined) messages.unshift({ type: 'auth', token })
    return messages.map((message) => JSON.stringify(message))
  }

  protected frame(kind: Kind, bytes: Uint8Array, number: number): Uint8Array {
    return encoding.encode((encoder) => {
      encoding.writeVarUint(encoder, 1)
      encoding.writeVarUint(encoder, editorFrames[kind])
      if (kind === 'syncStep2' || kind === 'update') encoding.writeVarUint(encoder, number)
      encoding.writeVarUint8Array(encoder, bytes)
    })
  }

  setLiveState(liveStateDataId: string, data: Record<string, unknown>): Promise<Written> {
    return this.#request((id) => ({ type: 'setLiveState', ref: 1, id, liveStateDataId, data }))
  }

  addVersion(name: string): Promise<Written> {
    return this.#request((id) => ({ type: 'addVersion', channel: 1, id, name }))
  }

  async listVersions(): Promise<Told> {
    const outcome = await this.#request((id) => ({ type: 'listVersions', channel: 1, id }))
    return outcome === 'saved' ? 'told' : 'refused'
  }

  #request(message: (id: number) => ClientMessage): Promise<Written> {
    const outcome = new Promise<Written>((settle) => this.#outcomes.push(settle))
    this.send(JSON.stringify(message(this.#outcomes.length - 1)))
    return this.unlessEnded<Written>(outcome, 'refused')
  }

  /** `told`: the presence was broadcast to the document. */
  setPresence(word: string): Promise<Told> {
    const message: ClientMessage = { type: 'setPresence', ref: 1, data: { word } }
    this.send(JSON.stringify(message))
    const broadcast = this.until(() => this.#presences.includes(word)).then(() => 'told' as const)
    return this.unlessEnded<Told>(broadcast, 'refused')
  }

  protected receive(data: Buffer, isBinary: boolean): void {
    if (isBinary) this.#receiveFrame(decoding.createDecoder(data))
    else this.#receiveMessage(JSON.parse(data.toString()) as ServerMessage)
  }

  #receiveFrame(decoder: decoding.Decoder): void {
    decoding.readVarUint(decoder)
    const kind = decoding.readVarUint(decoder)
    if (kind === editorFrames.saved) {
      const newest = decoding.readVarUint(decoder)
      this.#settle(({ number }) => number <= newest, 'saved')
    } else if (kind === editorFrames.refused) {
      const refused = decoding.readVarUint(decoder)
      this.denials.push(decoding.readVarString(decoder))
      this.#settle(({ number }) => number === refused, 'refused')
    } else {
      const kinds = [...syncKinds, 'awareness'] as const
      this.onMessage(
        kinds.find((name) => editorFrames[name] === kind) as Kind,
        decoding.readVarUint8Array(decoder),
      )
    }
  }

  #settle(fits: (write: Write) => boolean, outcome: Written): void {
    for (const write of this.writes.filter(fits)) write.settle(outcome)
    this.writes = this.writes.filter((write) => !fits(write))
  }

  #receiveMessage(message: ServerMessage): void {
    if (message.type === 'editorOpened') {
      this.roles.push(message.accessRole)
      this.open()
    } else if (message.type === 'access') this.roles.push(message.accessRole)
    else if (message.type === 'closed' || message.type === 'editorClosed') {
      this.end({ code: message.code, reason: message.reason })
    } else if (message.type === 'done') this.#outcomes[message.id]?.('saved')
    else if (message.type === 'error') {
      this.denials.push(`${message.status}: ${message.message}`)
      if (message.id !== undefined) this.#outcomes[message.id]?.('refused')
    } else if (message.type === 'presence' || message.type === 'opened') {
      const users = message.type === 'opened' ? message.presence : message.users
      for (const { data } of users ?? []) if (typeof data?.word === 'string') this.#presences.push(data.word)
    }
  }
}

/** Connects a client of the dialect. */
export function rawClient(server: Pick<TestServer, 'url'>, dialect: Dialect, door: Door): RawClient {
  if (dialect === 'yjs') return new RawYjs(server, door)
  if (dialect === 'y-sweet') return new RawYSweet(server, door)
  return dialect === 'hocuspocus' ? new RawHocuspocus(server, door) : new RawRealtime(server, door)
}

const nameOf = ({ organizationId, documentId, editorId }: Door) =>
  `${organizationId}/${documentId}/${editorId}`

const ws = (url: string) => url.replace(/^http/, 'ws')
