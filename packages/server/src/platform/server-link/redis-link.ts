import type { Redis } from 'ioredis'
import {
  type LinkOptions,
  ReconnectingLink,
  type TransportConnection,
  type TransportEvents,
} from './reconnecting-link.ts'
import type { ServerLink } from './server-link.ts'

export interface RedisLinkOptions extends LinkOptions {
  url: string
  /** Finds an id that the servers of one database share, so that several databases can use one Redis. */
  findDatabaseId: () => Promise<string>
}

/** Sends messages with PUBLISH, on a channel for all servers of a database and on one for each of them. */
export const createRedisLink = ({ url, findDatabaseId, ...options }: RedisLinkOptions): ServerLink =>
  new ReconnectingLink(
    {
      name: 'Redis',
      carriesData: true,
      maxFrameBytes: Infinity,
      open: (ownId, events) => new RedisLinkConnection(url, findDatabaseId, ownId, events),
    },
    options,
  )

class RedisLinkConnection implements TransportConnection {
  readonly #events: TransportEvents
  #publisher: Redis | undefined
  #subscriber: Redis | undefined
  #channel = ''
  waitingBytes = 0
  #lastSent: Promise<unknown> | undefined
  #isDestroyed = false

  constructor(url: string, findDatabaseId: () => Promise<string>, ownId: string, events: TransportEvents) {
    this.#events = events
    this.#open(url, findDatabaseId, ownId).then(events.onOpen, events.onLost)
  }

  send(frames: readonly Buffer[], to?: readonly string[]): void {
    const channels = to ? to.map((id) => this.#channelOf(id)) : [this.#channel]
    for (const channel of channels) for (const frame of frames) this.#publish(channel, frame)
  }

  #publish(channel: string, frame: Buffer): void {
    this.waitingBytes += frame.length
    const onSent = () => void (this.waitingBytes -= frame.length)
    // Redis answers in order. A failure is reported by the connection itself.
    this.#lastSent = this.#publisher?.publish(channel, frame).then(onSent, onSent)
  }

  /** The channel of one server. */
  #channelOf(id: string): string {
    return `${this.#channel} ${Buffer.from(id, 'latin1').toString('hex')}`
  }

  async close(): Promise<void> {
    await this.#lastSent
    this.destroy()
  }

  destroy(): void {
    this.#isDestroyed = true
    this.#publisher?.disconnect()
    this.#subscriber?.disconnect()
  }

  async #open(url: string, findDatabaseId: () => Promise<string>, ownId: string): Promise<void> {
    // Loaded only if it is used, because loading takes some hundred milliseconds.
    const library = await import('ioredis')
    // The number is that of the format of frames.
    this.#channel = `plenum 2 ${await findDatabaseId()}`
    if (this.#isDestroyed) return
    const publisher = (this.#publisher = this.#create(library.Redis, url))
    const subscriber = (this.#subscriber = this.#create(library.Redis, url))
    subscriber.on('messageBuffer', (_channel: Buffer, frame: Buffer) => this.#events.onFrame(frame))
    await Promise.all([publisher.connect(), subscriber.connect()])
    await subscriber.subscribe(this.#channel, this.#channelOf(ownId))
  }

  #create(Client: typeof Redis, url: string): Redis {
    const { onLost } = this.#events
    const redis = new Client(url, {
      lazyConnect: true,
      connectionName: 'plenum-link',
      // A lost connection is replaced by another `RedisLinkConnection`.
      retryStrategy: null,
      enableOfflineQueue: false,
      enableReadyCheck: false,
      autoResubscribe: false,
      // `disconnect` waits this long for the other side, which may be silent. `close` has already waited for its answers.
      disconnectTimeout: 1,
    })
    redis.on('error', onLost)
    redis.on('end', () => onLost(new Error('Redis has closed the connection')))
    return redis
  }
}
