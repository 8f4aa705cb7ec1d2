import type pg from 'pg'

/** A connection that is opened when it is first needed, and replaced after it broke. */
export class SharedConnection {
  readonly #create: () => pg.Client
  #client: Promise<pg.Client> | undefined

  constructor(create: () => pg.Client) {
    this.#create = create
  }

  readonly client = (): Promise<pg.Client> => {
    if (this.#client) return this.#client
    const drop = () => {
      // Another connection may have replaced it meanwhile.
      if (this.#client === opened) this.#client = undefined
    }
    const opened = this.#open(drop)
    this.#client = opened
    opened.catch(drop)
    return opened
  }

  async close(): Promise<void> {
    const client = await this.#client?.catch(() => undefined)
    await client?.end()
  }

  async #open(onEnd: () => void): Promise<pg.Client> {
    const client = this.#create()
    // Without a listener, an error would end the process.
    client.on('error', onEnd)
    client.on('end', onEnd)
    await client.connect()
    return client
  }
}
