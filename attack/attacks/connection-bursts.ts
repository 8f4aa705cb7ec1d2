import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import type { Attack } from '../attack.ts'

const request = 'GET /metrics HTTP/1.1\r\nHost:a\r\n\r\n'

/**
 * Opens hundreds of connections at once while 100 other connections keep the event loop busy. The connection of a new client
 * waits behind the burst.
 */
export const connectionBursts: Attack = {
  name: 'hundreds of new connections at once',
  withoutDatabase: true,
  async prepare({ url, size }) {
    const port = Number(new URL(url).port)
    const [burstCount, connectionsPerBurst] = size === 'short' ? [4, 200] : [10, 400]
    const polling = Array.from({ length: 100 }, () => poll(port))
    await Promise.all(polling.map((socket) => once(socket, 'data')))
    return async () => {
      for (let burst = 0; burst < burstCount; burst++) {
        const opened = Array.from({ length: connectionsPerBurst }, () => poll(port))
        await pause(500)
        for (const socket of opened) socket.destroy()
      }
      for (const socket of polling) socket.destroy()
    }
  },
}

/** Opens a connection that sends the request again after every answer. */
function poll(port: number): Socket {
  const socket = connect(port, '127.0.0.1')
  const send = () => socket.write(request)
  return socket
    .on('connect', send)
    .on('data', send)
    .on('error', () => {})
}
