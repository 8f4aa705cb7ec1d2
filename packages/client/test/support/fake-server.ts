import * as decoding from 'lib0/decoding'
import type { ErrorStatus } from '@plenum/protocol/errors'
import * as encoding from 'lib0/encoding'
import { expect } from 'vitest'
import type { ClientMessage, ServerMessage } from '@plenum/protocol/realtime'
import { editorFrames } from '@plenum/protocol/realtime'
import type { ConnectOptions, WebSocketClass } from '../../src/index.ts'
import { createClient } from '../../src/index.ts'

/** A socket whose server side is the test. The test acts step by step, so it can produce any order of events. */
class FakeSocket extends EventTarget {
  readonly url: string
  readyState = 0
  binaryType = 'blob'
  /** JSON messages that the client sent. */
  readonly messages: ClientMessage[] = []
  /** Binary frames that the client sent. */
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

  /** Accepts the connection. The client then sends its token. */
  accept(): void {
    this.readyState = 1
    this.dispatchEvent(new Event('open'))
  }

  /** Accepts the connection and the token. */
  authenticate(expiresAt = 4_000_000_000): void {
    this.accept()
    this.deliver({ type: 'ready', connectionId: 'c', userId: 'ada', expiresAt })
  }

  /** Delivers a message from the server. A string is delivered as it is. */
  deliver(message: ServerMessage | string): void {
    const data = typeof message === 'string' ? message : JSON.stringify(message)
    this.dispatchEvent(new MessageEvent('message', { data }))
  }

  /** Delivers a frame of an editor: its body is bytes or, for `saved` and `refused`, a number. */
  deliverFrame(
    channel: number,
    kind: keyof typeof editorFrames,
    body: Uint8Array | number,
    reason?: string,
    status?: ErrorStatus,
  ): void {
    const encoder = encoding.createEncoder()
    encoding.writeVarUint(encoder, channel)
    encoding.writeVarUint(encoder, editorFrames[kind])
    if (typeof body === 'number') encoding.writeVarUint(encoder, body)
    else encoding.writeVarUint8Array(encoder, body)
    for (const text of [reason, status]) if (text !== undefined) encoding.writeVarString(encoder, text)
    const data = encoding.toUint8Array(encoder).slice().buffer
    this.dispatchEvent(new MessageEvent('message', { data }))
  }

  /** Ends the connection from the server's side. Code 1006: the connection was lost. */
  disconnect(code = 1006, reason = ''): void {
    this.readyState = 3
    this.dispatchEvent(Object.assign(new Event('close'), { code, reason }))
  }

  /** The messages of this type that the client sent. */
  sent<T extends ClientMessage['type']>(type: T): (ClientMessage & { type: T })[] {
    return this.messages.filter((message): message is ClientMessage & { type: T } => message.type === type)
  }
}

/** A string with the form of a token. */
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
      if (!socket) throw new Error('The client has not opened a socket yet.')
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

/** Decodes a frame that the client sent. */
export function decodeSentFrame(frame: Uint8Array) {
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
