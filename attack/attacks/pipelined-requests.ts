import { once } from 'node:events'
import { Agent, get } from 'node:http'
import { connect } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import type { Attack, Scene } from '../attack.ts'

const durationMs = (size: Scene['size']) => (size === 'short' ? 1_000 : 4_000)

/** Sends many requests in one write, without credentials and without waiting for answers. */
export const pipelinedRequests: Attack = {
  name: 'requests without credentials, thousands at once',
  withoutDatabase: true,
  maxMegabytes: 150,
  async prepare({ url, size }) {
    const paths = ['/x', '/metrics', '/readyz', '/openapi.json']
    return async () => {
      const endAt = performance.now() + durationMs(size)
      const flood = async (path: string) => {
        while (performance.now() < endAt) await sendPipelined(url, path, 2_000)
      }
      await Promise.all([...paths, ...paths].map(flood))
    }
  },
}

/** Sends one request at a time on each of many connections, without credentials. */
export const metricsOnManyConnections: Attack = {
  name: 'metrics on 100 connections',
  withoutDatabase: true,
  async prepare({ url, size }) {
    const agent = new Agent({ keepAlive: true, maxSockets: 100 })
    return async () => {
      const endAt = performance.now() + durationMs(size)
      const poll = async () => {
        while (performance.now() < endAt) await read(`${url}/metrics`, agent)
      }
      await Promise.all(Array.from({ length: 100 }, poll))
      agent.destroy()
    }
  },
}

/** Sends `count` requests in one write. The server closes the connection when too many requests wait on it. */
async function sendPipelined(url: string, path: string, count: number): Promise<void> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  socket.on('error', () => {}).resume()
  await once(socket, 'connect')
  socket.write(`GET ${path} HTTP/1.1\r\nHost:a\r\n\r\n`.repeat(count))
  await Promise.race([once(socket, 'close'), pause(1_000)])
  socket.destroy()
}

const read = (url: string, agent: Agent) =>
  new Promise<void>((resolve) => {
    get(url, { agent }, (answer) => answer.resume().on('end', resolve)).on('error', () => resolve())
  })
