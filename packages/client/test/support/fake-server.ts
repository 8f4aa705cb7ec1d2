import * as decoding from 'lib0/decoding'
import * as encoding from 'lib0/encoding'
import { expect } from 'vitest'
import type { ClientMessage, ServerMessage } from '@plenum/protocol/realtime'
import { editorFrames } from '@plenum/protocol/realtime'
import type { ConnectOptions, WebSocketClass } from '../../src/index.ts'
import { createClient } from '../../src/index.ts'

/** The server's end of one socket, moved by hand: for what depends on the moment, which a real server does not give. */
export class FakeSocket extends EventTarget {
  readonly url: string
  readyState = 0
  binaryType = 'blob'
  readonly messages: ClientMessage[] = []
  readonly frames: Uint8Array[] = []

  constructor(url: string) {
    super()
    this.url = url
  }

  send(data: string | Uint8Array): void {
    if (typeof data === 'string') this.messages.push(JSON.parse(data))
    else this.frames.push(data)
  }

  close(): void {
    this.readyState = 3
  }

  accept(): void {
    this.readyState = 1
    this.dispatchEvent(new Event('open'))
  }

  /** Accepts it, and the token too. */
  welcome(expiresAt = 4_000_000_000): void {
    this.accept()
    this.say({ type: 'ready', connectionId: 'c', userId: 'ada', expiresAt })
  }

  say(message: ServerMessage | string): void {
    const data = typeof message === 'string' ? message : JSON.stringify(message)
    this.dispatchEvent(new MessageEvent('message', { data }))
  }

  /** A frame of an editor: bytes for what has bytes, else a number. */
  sayFrame(
    channel: number,
    kind: keyof typeof editorFrames,
    body: Uint8Array | number,
    reason?: string,
  ): void {
    const encoder = encoding.createEncoder()
    encoding.writeVarUint(encoder, channel)
    encoding.writeVarUint(encoder, editorFrames[kind])
    if (typeof body === 'number') encoding.writeVarUint(encoder, body)
    else encoding.writeVarUint8Array(encoder, body)
    if (reason !== undefined) encoding.writeVarString(encoder, reason)
    const data = encoding.toUint8Array(encoder).slice().buffer
    this.dispatchEvent(new MessageEvent('message', { data }))
  }

  drop(code = 1006, reason = ''): void {
    this.readyState = 3
    this.dispatchEvent(Object.assign(new Event('close'), { code, reason }))
  }

  /** The messages of that type. */
  sent<T extends ClientMessage['type']>(type: T): (ClientMessage & { type: T })[] {
    return this.messages.filter((message): message is ClientMessage & { type: T } => message.type === type)
  }
}

/** A string in the form of a token. */
export const jwt = (name: string) => `header.${name}.signature`

export function fakeServer() {
  const sockets: FakeSocket[] = []
  class WebSocket extends FakeSocket {
    constructor(url: string) {
      super(url)
      sockets.push(this)
    }
  }
  return {
    sockets,
    WebSocket: WebSocket as WebSocketClass,
    /** The newest socket. */
    get socket(): FakeSocket {
      const socket = sockets.at(-1)
      if (!socket) throw new Error('Nobody has connected yet.')
      return socket
    },
    connect: (options: Partial<ConnectOptions> = {}) =>
      createClient({ url: 'http://plenum.test/base/' }).connect({
        token: jwt('token'),
        WebSocket,
        ...options,
      }),
  }
}

export type FakeServer = ReturnType<typeof fakeServer>

/** A frame of an editor as the client sent it. */
export function readFrame(frame: Uint8Array) {
  const decoder = decoding.createDecoder(frame)
  const channel = decoding.readVarUint(decoder)
  const code = decoding.readVarUint(decoder)
  const kind = Object.entries(editorFrames).find(([, value]) => value === code)?.[0]
  const isNumbered = kind === 'syncStep2' || kind === 'update'
  const number = isNumbered ? decoding.readVarUint(decoder) : undefined
  const bytes = decoding.readVarUint8Array(decoder)
  expect(decoding.hasContent(decoder)).toBe(false)
  return { channel, kind, number, bytes }
}
