import type { Client, Connection, ConnectOptions } from '@plenum/client'
import type { ServerMessage } from '@plenum/protocol/realtime'
import { WebSocket } from 'ws'
import { closeAfterTest } from './open-clients.ts'

/** Connects the client of the package `@plenum/client`. The connection is closed after the test. */
export function plenumConnection(
  client: Pick<Client, 'connect'>,
  token: ConnectOptions['token'],
  options: Partial<ConnectOptions> = {},
): Connection {
  const connection = client.connect({ token, WebSocket, ...options })
  closeAfterTest({ destroy: () => connection.close() })
  return connection
}

/** A network that a test can interrupt. It records the JSON messages of the server. */
export function interruptibleNetwork() {
  const sockets: WebSocket[] = []
  const received: ServerMessage[] = []
  let isUp = true
  class Socket extends WebSocket {
    constructor(url: string) {
      // No server listens at port 1.
      super(isUp ? url : 'ws://127.0.0.1:1')
      sockets.push(this)
      this.addEventListener('message', ({ data }) => {
        if (typeof data === 'string') received.push(JSON.parse(data))
      })
    }
  }
  return {
    WebSocket: Socket,
    /** The received messages of a type, since the start or the last `restore`. */
    of: <T extends ServerMessage['type']>(type: T) =>
      received.filter((message): message is ServerMessage & { type: T } => message.type === type),
    /** Ends all connections. New ones fail until `restore`. */
    cut() {
      isUp = false
      for (const socket of sockets) socket.terminate()
    },
    /** Lets the connection reconnect at once, and forgets the received messages. */
    restore(connection: Connection) {
      isUp = true
      received.length = 0
      connection.reconnect()
    },
  }
}
