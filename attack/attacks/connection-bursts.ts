import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import type { Attack } from '../attack.ts'

const request = 'GET /metrics HTTP/1.1\r\nHost:a\r\n\r\n'

/** Opens hundreds of connections at once while others keep the event loop busy. A new client's connection waits behind them. */
export const connectionBursts: Attack = {
  name: 'hundreds of new connections at once',
  withoutDatabase: true,
  async prepare({ url, size }) {
    const port = Number(new URL(url).port)
    const [bursts, connections] = size === 'short' ? [4, 200] : [10, 400]
    const polling = Array.from({ length: 100 }, () => poll(port))
    await Promise.all(polling.map((socket) => once(socket, 'data')))
    return async () => {
      for (let burst = 0; burst < bursts; burst++) {
        const opened = Array.from({ length: connections }, () => poll(port))
        await pause(500)
        for (const socket of opened) socket.destroy()
      }
      for (const socket of polling) socket.destroy()
    }
  },
}

/** A connection that sends the request again after every answer. */
function poll(port: number): Socket {
  const socket = connect(port, '127.0.0.1')
  const send = () => socket.write(request)
  return socket
    .on('connect', send)
    .on('data', send)
    .on('error', () => {})
}
