import type pg from 'pg'
import {
  type LinkOptions,
  ReconnectingLink,
  type TransportConnection,
  type TransportEvents,
} from './reconnecting-link.ts'
import type { ServerLink } from './server-link.ts'

/** A notification has at most 7,999 bytes of text: base64 of this many bytes. */
const maxFrameBytes = 5_997
/** More frames are not sent with one statement. */
const maxFramesPerStatement = 100
/** The channels of a database are shared by its schemas. The number is that of the format of frames. */
const channelQuery = `select 'plenum_2_' || md5(current_schema()) as channel`

/**
 * Sends messages with NOTIFY. It has its own connections, because a transaction that writes and notifies would hold a lock of
 * the whole database while it commits.
 */
export const createPostgresLink = ({ url, ...options }: LinkOptions & { url: string }): ServerLink =>
  new ReconnectingLink(
    {
      name: 'PostgreSQL',
      carriesData: false,
      maxFrameBytes,
      open: (ownId, events) => new PostgresLinkConnection(url, ownId, events),
    },
    options,
  )

interface Notification {
  channel: string
  text: string
}

class PostgresLinkConnection implements TransportConnection {
  #listener: pg.Client | undefined
  #sender: pg.Client | undefined
  readonly #events: TransportEvents
  #isDestroyed = false
  #channel = ''
  #waiting: Notification[] = []
  waitingBytes = 0
  #sending: Promise<void> | undefined

  constructor(url: string, ownId: string, events: TransportEvents) {
    this.#events = events
    this.#open(url, ownId).then(events.onOpen, events.onLost)
  }

  send(frames: readonly Buffer[], to?: readonly string[]): void {
    const channels = to ? to.map((id) => this.#channelOf(id)) : [this.#channel]
    for (const frame of frames) {
      const text = frame.toString('base64')
      for (const channel of channels) this.#waiting.push({ channel, text })
      this.waitingBytes += text.length * channels.length
    }
    this.#sending ??= this.#sendWaiting()
  }

  async close(): Promise<void> {
    await this.#sending
    await Promise.all([this.#listener?.end(), this.#sender?.end()])
  }

  destroy(): void {
    this.#isDestroyed = true
    for (const client of [this.#listener, this.#sender]) client?.connection.stream.destroy()
  }

  /** The channel of one server. */
  #channelOf(id: string): string {
    return `${this.#channel}_${Buffer.from(id, 'latin1').toString('hex')}`
  }

  async #open(url: string, ownId: string): Promise<void> {
    // Loaded only if it is used, because loading takes time.
    const { default: library } = await import('pg')
    if (this.#isDestroyed) return
    const listener = (this.#listener = this.#create(library.Client, url))
    const sender = (this.#sender = this.#create(library.Client, url))
    listener.on('notification', ({ payload = '' }) => this.#events.onFrame(Buffer.from(payload, 'base64')))
    await Promise.all([listener.connect(), sender.connect()])
    const { rows } = await listener.query<{ channel: string }>(channelQuery)
    this.#channel = rows[0]?.channel ?? ''
    for (const channel of [this.#channel, this.#channelOf(ownId)])
      await listener.query(`listen ${library.escapeIdentifier(channel)}`)
  }

  #create(Client: typeof pg.Client, url: string): pg.Client {
    const { onLost } = this.#events
    const client = new Client({
      connectionString: url,
      keepAlive: true,
      application_name: 'plenum-link',
      // A notification need not survive a crash. With a sync, the lock of NOTIFY would be held longer.
      options: '-c synchronous_commit=off',
    })
    client.on('error', onLost)
    client.on('end', () => onLost(new Error('PostgreSQL has closed the connection')))
    return client
  }

  /** Frames that arrive while a statement runs are sent together by the next one. */
  async #sendWaiting(): Promise<void> {
    try {
      while (this.#waiting.length > 0) {
        const sent = this.#waiting.splice(0, maxFramesPerStatement)
        for (const { text } of sent) this.waitingBytes -= text.length
        await this.#sender?.query({
          name: 'send',
          text: 'select pg_notify(channel, frame) from unnest($1::text[], $2::text[]) as sent (channel, frame)',
          values: [sent.map(({ channel }) => channel), sent.map(({ text }) => text)],
        })
      }
    } catch (error) {
      this.#events.onLost(error as Error)
    } finally {
      this.#sending = undefined
    }
  }
}
