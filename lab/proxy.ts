import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** Which bytes a proxy passes: all, none, or those of one direction. */
export type Passing = 'both' | 'toServer' | 'toClient' | 'none'

export interface Proxy {
  readonly port: number
  readonly url: string
  /** Connections stay open; bytes in the other directions vanish. */
  pass(passing: Passing): void
  /** Refuses new connections. */
  refuse(): void
  /** Accepts connections again, and passes all bytes. Those that lost bytes are reset. */
  restore(): void
  close(): void
}

interface Pair {
  near: Socket
  far: Socket
  /** Whether bytes of this connection have vanished. */
  isBroken: boolean
}

/**
 * A TCP proxy on this machine that is a load balancer and a faulty network. New connections take turns between the ports,
 * or all go to the first one. A port that refuses a connection is skipped.
 */
export async function startProxy(
  ports: () => readonly number[],
  { prefersFirst = false } = {},
): Promise<Proxy> {
  const pairs = new Set<Pair>()
  let passing: Passing = 'both'
  let isRefusing = false
  let turn = 0

  const join = (near: Socket, far: Socket) => {
    const pair: Pair = { near, far, isBroken: false }
    pairs.add(pair)
    const forward = (from: Socket, to: Socket, direction: Passing) => {
      from.on('data', (data) => {
        if (passing !== 'both' && passing !== direction) pair.isBroken = true
        else if (!to.write(data)) {
          from.pause()
          to.once('drain', () => from.resume())
        }
      })
      from.on('close', () => {
        // A host that cannot be reached does not say that its connection is closed.
        if (passing !== 'both' && passing !== direction) pair.isBroken = true
        else to.destroy()
        if (near.destroyed && far.destroyed) pairs.delete(pair)
      })
    }
    forward(near, far, 'toServer')
    forward(far, near, 'toClient')
  }

  /** Connects to the first of these ports that accepts. */
  const route = (near: Socket, [port, ...others]: readonly number[]) => {
    if (port === undefined || near.destroyed) return void near.destroy()
    const far = connect({ port, host: '127.0.0.1', noDelay: true })
    far.once('error', () => route(near, others))
    return far.once('connect', () => {
      far.removeAllListeners('error')
      far.on('error', () => {})
      join(near, far)
      near.resume()
    })
  }

  const server = createServer({ noDelay: true, pauseOnConnect: true }, (near) => {
    near.on('error', () => {})
    if (isRefusing) return void near.resetAndDestroy()
    const all = ports()
    const first = prefersFirst ? 0 : turn++ % all.length
    return route(near, [...all.slice(first), ...all.slice(0, first)])
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    pass: (which) => void (passing = which),
    refuse: () => void (isRefusing = true),
    restore() {
      passing = 'both'
      isRefusing = false
      for (const { near, far, isBroken } of pairs) {
        if (!isBroken) continue
        near.resetAndDestroy()
        far.resetAndDestroy()
      }
    },
    close() {
      server.close()
      for (const { near, far } of pairs) for (const socket of [near, far]) socket.destroy()
    },
  }
}
