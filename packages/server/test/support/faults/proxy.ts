import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'

/** Which bytes a proxy passes: all, none, or those of one direction. */
export type Passing = 'both' | 'toServer' | 'toClient' | 'none'

/** A connection of a client, and the one that the proxy has opened for it. */
interface Pair {
  near: Socket
  far: Socket
  /** Whether bytes of this connection, or its end, have vanished. */
  isBroken: boolean
  /** The client's bytes that wait for `release`. */
  held: Buffer[] | undefined
}

/** The first bytes with a certain text that a client sends, and all that it sends after them. */
export interface HeldBytes {
  /** Resolves when the bytes have reached the proxy. */
  arrived: Promise<void>
  /** Closes the connection to the client. The server gets the bytes nevertheless, when they are released. */
  dropClient(): void
  /** Sends the bytes to the server. */
  release(): void
}

/** A TCP proxy on this machine that is a load balancer, and a faulty network. */
export class Proxy {
  /** The first server's URL, with the address of the proxy. */
  readonly url: string
  readonly port: number
  readonly #server: Server
  readonly #prefersFirst: boolean
  readonly #pairs = new Set<Pair>()
  #urls: () => readonly string[]
  #passing: Passing = 'both'
  #isRefusing = false
  #hold: { text: string; onArrival: (pair: Pair) => void } | undefined
  #turn = 0

  /** New connections take turns between the servers, or all go to the first one. A server that refuses is skipped. */
  static async start(
    servers: string | (() => readonly string[]),
    { prefersFirst = false } = {},
  ): Promise<Proxy> {
    const server = createServer({ noDelay: true, pauseOnConnect: true })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return new Proxy(server, typeof servers === 'string' ? () => [servers] : servers, prefersFirst)
  }

  private constructor(server: Server, urls: () => readonly string[], prefersFirst: boolean) {
    this.#server = server
    this.#urls = urls
    this.#prefersFirst = prefersFirst
    this.port = (server.address() as AddressInfo).port
    this.url = this.urlFor(urls()[0] as string)
    server.on('connection', (near) => {
      near.on('error', () => {})
      if (this.#isRefusing) return void near.resetAndDestroy()
      const all = this.#urls()
      const first = this.#prefersFirst ? 0 : this.#turn++ % all.length
      return this.#route(near, [...all.slice(first), ...all.slice(0, first)])
    })
  }

  /** How many clients are connected. */
  get openConnections(): number {
    return [...this.#pairs].filter(({ near }) => !near.destroyed).length
  }

  /** The same URL, with the address of the proxy. */
  urlFor(url: string): string {
    const { href } = Object.assign(new URL(url), { hostname: '127.0.0.1', port: String(this.port) })
    return url.endsWith('/') ? href : href.replace(/\/$/, '')
  }

  /** Sends new connections to this server only. */
  sendTo(url: string): void {
    this.#urls = () => [url]
  }

  /** Connections stay open; bytes in the other directions vanish. */
  pass(passing: Passing): void {
    this.#passing = passing
  }

  /** Refuses new connections. */
  refuse(): void {
    this.#isRefusing = true
  }

  /** Closes all connections. */
  cut(): void {
    for (const { near, far } of this.#pairs) for (const socket of [near, far]) socket.destroy()
  }

  /** Accepts connections again, and passes all bytes. Connections that lost bytes are reset. */
  restore(): void {
    this.#passing = 'both'
    this.#isRefusing = false
    for (const { near, far, isBroken } of this.#pairs)
      if (isBroken) for (const socket of [near, far]) socket.resetAndDestroy()
  }

  /** Holds the next bytes of a client that contain the text. */
  hold(text: string): HeldBytes {
    let holder: Pair | undefined
    const arrived = new Promise<void>((resolve) => {
      const onArrival = (pair: Pair) => {
        holder = pair
        this.#hold = undefined
        resolve()
      }
      this.#hold = { text, onArrival }
    })
    return {
      arrived,
      dropClient: () => void holder?.near.destroy(),
      release() {
        for (const data of holder?.held ?? []) holder?.far.write(data)
        if (!holder) return
        holder.held = undefined
        if (holder.near.destroyed) holder.far.destroySoon()
      },
    }
  }

  close(): void {
    this.#server.close()
    this.cut()
  }

  /** Connects to the first of these servers that accepts. */
  #route(near: Socket, [url, ...others]: readonly string[]): void {
    if (url === undefined || near.destroyed) return void near.destroy()
    const { hostname, port } = new URL(url)
    const far = connect({ port: Number(port), host: hostname, noDelay: true })
    const onRefused = () => this.#route(near, others)
    far.once('error', onRefused)
    far.once('connect', () => {
      far.off('error', onRefused).on('error', () => {})
      const pair: Pair = { near, far, isBroken: false, held: undefined }
      this.#pairs.add(pair)
      this.#forward(pair, near, far, 'toServer')
      this.#forward(pair, far, near, 'toClient')
      near.resume()
    })
  }

  #forward(pair: Pair, from: Socket, to: Socket, direction: Passing): void {
    const passes = () => this.#passing === 'both' || this.#passing === direction
    from.on('data', (data) => {
      if (!passes()) pair.isBroken = true
      else if (direction === 'toServer' && this.#holds(pair, data)) pair.held?.push(data)
      else if (!to.write(data)) {
        from.pause()
        to.once('drain', () => from.resume())
      }
    })
    from.on('close', () => {
      // A host that cannot be reached does not say that its connection is closed.
      if (!passes()) pair.isBroken = true
      else if (direction === 'toClient' || !pair.held) to.destroySoon()
      if (pair.near.destroyed && pair.far.destroyed) this.#pairs.delete(pair)
    })
  }

  #holds(pair: Pair, data: Buffer): boolean {
    if (this.#hold && data.includes(this.#hold.text)) {
      pair.held = []
      this.#hold.onArrival(pair)
    }
    return pair.held !== undefined
  }
}
