import type pg from 'pg'

/** A connection that is opened when it is first needed, and replaced after it broke. */
export class SharedConnection {
  readonly #create: () => pg.Client
  #client: Promise<pg.Client> | undefined

  constructor(create: () => pg.Client) {
    this.#create = create
  }

  readonly client = (): Promise<pg.Client> => (this.#client ??= this.#open())

  async close(): Promise<void> {
    const client = await this.#client?.catch(() => undefined)
    await client?.end()
  }

  async #open(): Promise<pg.Client> {
    const client = this.#create()
    const drop = () => (this.#client = undefined)
    // Without a listener, an error would end the process.
    client.on('error', drop)
    client.on('end', drop)
    try {
      await client.connect()
    } catch (error) {
      drop()
      throw error
    }
    return client
  }
}
