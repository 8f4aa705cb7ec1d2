import { setTimeout as pause } from 'node:timers/promises'
import { ApiError } from '@plenum/protocol'
import pg from 'pg'
import { afterEach, describe, expect, test } from 'vitest'
import * as Y from 'yjs'
import * as given from './given.ts'
import { createPostgresDatabase, startServer, stores, type TestServer } from './harness.ts'
import { closeClients, eventually, hocuspocusClient, stateOf, synced, tokenFor, yjsClient } from './live.ts'

/** One number decides what is tried next; printed, so that a failing run can be tried again with the same order. */
const seed = Number(process.env.RACE_SEED ?? Date.now() % 1_000_000)
const seconds = Number(process.env.RACE_SECONDS ?? 6)

function createRandom(start: number) {
  let state = start
  const below = (end: number) => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32
    return Math.floor((state / 2 ** 32) * end)
  }
  return { below, of: <T>(list: readonly T[]) => list[below(list.length)] as T }
}

interface Writer {
  documentId: string
  editorId: string
  doc: Y.Doc
  isConnected: boolean
  isSynced(): boolean
  connect(): void
  disconnect(): void
  destroy(): void
}

const documents = ['doc_1', 'doc_2']
const editors = ['a', 'b']
const mostWriters = 12

const stops: (() => unknown)[] = []
afterEach(async () => {
  closeClients()
  for (const stop of stops.splice(0).toReversed()) await stop()
})

describe.each(stores)('everything at once on %s', (store) => {
  test('[R1] [R4] [R7] in the end everybody has what is stored', { timeout: 180_000 }, async () => {
    const databaseUrl = store === 'postgres' ? await createPostgresDatabase() : undefined
    const server = await startServer(
      store,
      databaseUrl ? { data: { dataDir: '/tmp/unused', databaseUrl } } : {},
    )
    stops.push(() => server.stop())
    const race = new Race(server, await given.tenant(server), databaseUrl)
    await race.run(seconds * 1_000)
    // oxlint-disable-next-line no-console -- with the seed a failing run can be repeated
    console.log(`${store}, seed ${seed}: ${JSON.stringify(race.counts)}`)
    await race.settle()
    for (const kind of Object.values(race.counts)) expect(kind).toBeGreaterThan(0)
  })
})

class Race {
  readonly counts: Record<string, number> = {}
  readonly #server: TestServer
  readonly #tenant: given.Tenant
  readonly #databaseUrl: string | undefined
  readonly #random = createRandom(seed)
  readonly #writers = new Set<Writer>()
  readonly #requests = new Set<Promise<unknown>>()
  #users = 0

  constructor(server: TestServer, tenant: given.Tenant, databaseUrl: string | undefined) {
    this.#server = server
    this.#tenant = tenant
    this.#databaseUrl = databaseUrl
  }

  /** The more often an action stands here, the more often it happens. */
  get #actions(): (() => void | Promise<void>)[] {
    const many = <T>(count: number, one: T) => Array<T>(count).fill(one)
    return [
      ...many(4, this.#join),
      ...many(3, this.#leave),
      ...many(4, this.#turn),
      ...many(60, this.#type),
      ...many(20, this.#remove),
      ...many(4, this.#paste),
      ...many(10, this.#nest),
      ...many(5, this.#writeByRest),
      ...many(2, this.#restore),
      ...many(1, this.#deleteDocument),
      ...(this.#databaseUrl ? many(1, this.#breakDatabase) : []),
    ]
  }

  async run(ms: number): Promise<void> {
    for (let first = 0; first < 4; first++) await this.#join()
    const actions = this.#actions
    for (const until = performance.now() + ms; performance.now() < until;) {
      const action = this.#random.of(actions)
      const name = action.name.replace('bound ', '')
      this.counts[name] = (this.counts[name] ?? 0) + 1
      await action()
      await pause(this.#random.below(4))
    }
  }

  /** Everybody comes back, and then nobody lacks anything. */
  async settle(): Promise<void> {
    await Promise.allSettled(this.#requests)
    for (const writer of this.#writers) if (!writer.isConnected) writer.connect()
    for (const documentId of documents) {
      for (const editorId of editors) {
        const reader = yjsClient(this.#server, await tokenFor(this.#tenant, 'reader'), {
          name: `org_1/${documentId}/${editorId}`,
        })
        const present = [...this.#writers].filter(
          (one) => one.documentId === documentId && one.editorId === editorId,
        )
        await synced(reader)
        await eventually(() => present.every((one) => one.isSynced())).toBe(true)
        const docs = [reader.doc, ...present.map(({ doc }) => doc)]
        await expect
          .poll(() => new Set(docs.map(stateOf)).size, {
            timeout: 20_000,
            message: `seed ${seed}: ${editorId}`,
          })
          .toBe(1)
        const { data } = await this.#tenant.client.crdt
          .get({ organizationId: 'org_1', documentId, editorId })
          .catch((error: unknown) => {
            if (error instanceof ApiError && error.status === 'NOT_FOUND') return { data: [] }
            throw error
          })
        expect(data[0]?.data ?? '').toBe(reader.text.toString())
      }
    }
    expect(this.#server.logged.filter((line) => line.includes('DamagedLog'))).toEqual([])
  }

  readonly #join = async (): Promise<void> => {
    if (this.#writers.size >= mostWriters) return
    const [documentId, editorId] = [this.#random.of(documents), this.#random.of(editors)]
    await this.#open(documentId, editorId)
  }

  async #open(documentId: string, editorId: string): Promise<void> {
    const kind = this.#random.of(['yjs', 'hocuspocus'])
    const name = `org_1/${documentId}/${editorId}`
    const token = () => tokenFor(this.#tenant, `user${this.#users++ % 5}`)
    const first = await token().catch(() => undefined)
    if (first === undefined) return
    const writer = kind === 'yjs' ? this.#yjs(name, first) : this.#hocuspocus(name, first)
    this.#writers.add(Object.assign(writer, { documentId, editorId }) as Writer)
  }

  #yjs(name: string, token: string): Omit<Writer, 'documentId' | 'editorId'> {
    const { provider, doc } = yjsClient(this.#server, token, { name })
    const writer = {
      doc,
      isConnected: true,
      isSynced: () => provider.synced,
      connect: () => void ((writer.isConnected = true), provider.connect()),
      disconnect: () => void ((writer.isConnected = false), provider.disconnect()),
      destroy: () => void provider.destroy(),
    }
    // A stock client would bring back what was deleted, as far as it knows it.
    provider.on('connection-close', (event) => {
      if (event?.code === 4404) this.#gone(writer as unknown as Writer)
    })
    return writer
  }

  #hocuspocus(name: string, token: string): Omit<Writer, 'documentId' | 'editorId'> {
    const { provider, doc, socket } = hocuspocusClient(this.#server, token, {
      name,
      onAuthenticationFailed: () => this.#gone(writer as unknown as Writer),
    })
    const writer = {
      doc,
      isConnected: true,
      isSynced: () => provider.isSynced && !provider.hasUnsyncedChanges,
      connect: () => void ((writer.isConnected = true), socket.connect()),
      disconnect: () => void ((writer.isConnected = false), socket.disconnect()),
      destroy: () => {
        provider.destroy()
        socket.destroy()
      },
    }
    return writer
  }

  #gone(writer: Writer): void {
    this.#writers.delete(writer)
    writer.destroy()
  }

  readonly #leave = (): void => {
    const writer = this.#random.of([...this.#writers])
    if (this.#writers.size > 3 && writer) this.#gone(writer)
  }

  /** Goes offline, or comes back. */
  readonly #turn = (): void => {
    const writer = this.#random.of([...this.#writers])
    if (!writer) return
    if (writer.isConnected) writer.disconnect()
    else writer.connect()
  }

  #text(): Y.Text | undefined {
    return this.#random.of([...this.#writers])?.doc.getText('content')
  }

  readonly #type = (): void => {
    const text = this.#text()
    text?.insert(this.#random.below(text.length + 1), `${this.#random.below(1_000)} `)
  }

  readonly #remove = (): void => {
    const text = this.#text()
    if (!text || text.length === 0) return
    const from = this.#random.below(text.length)
    text.delete(from, Math.min(text.length - from, 1 + this.#random.below(8)))
  }

  /** Enough for a snapshot now and then. */
  readonly #paste = (): void => {
    const text = this.#text()
    if (!text) return
    if (text.length > 60_000) text.delete(0, 50_000)
    else text.insert(0, 'paste '.repeat(2_000))
  }

  /** Types inside types, which others fill and throw away meanwhile. */
  readonly #nest = (): void => {
    const map = this.#random.of([...this.#writers])?.doc.getMap<Y.Map<unknown>>('nested')
    const key = `k${this.#random.below(3)}`
    const child = map?.get(key)
    if (!map) return
    if (!child || this.#random.below(4) === 0) map.set(key, new Y.Map())
    else child.set(`v${this.#random.below(3)}`, new Y.Array())
  }

  #request(request: Promise<unknown>): void {
    const done = request.catch((error: unknown) => {
      // There is nothing to write to, or the database is away.
      if (!(error instanceof ApiError)) throw error
      if (!['NOT_FOUND', 'UNAVAILABLE', 'INTERNAL', 'ABORTED'].includes(error.status)) throw error
    })
    this.#requests.add(done)
    void done.then(
      () => this.#requests.delete(done),
      () => {},
    )
  }

  readonly #writeByRest = (): void => {
    const place = this.#place()
    const data = `rest ${this.#random.below(1_000)} `.repeat(this.#random.below(20))
    this.#request(this.#tenant.client.crdt.update({ ...place, type: 'text', contentKey: 'content', data }))
  }

  /** A version is kept, and soon after it is back. */
  readonly #restore = (): void => {
    const place = this.#place()
    const { crdtVersions } = this.#tenant.client
    const restored = crdtVersions
      .add({ ...place, name: 'v' })
      .then(({ data: { versionId } }) => crdtVersions.restore({ ...place, versionId }))
    this.#request(restored)
  }

  #place() {
    const [documentId, editorId] = [this.#random.of(documents), this.#random.of(editors)]
    return { organizationId: 'org_1', documentId, editorId }
  }

  readonly #deleteDocument = async (): Promise<void> => {
    const documentId = this.#random.of(documents)
    const deleted = this.#tenant.client.documents.delete({
      organizationId: 'org_1',
      documentIds: [documentId],
    })
    this.#request(deleted)
    await deleted.catch(() => {})
    // Whoever was offline knows nothing of it yet.
    for (const writer of this.#writers) if (writer.documentId === documentId) this.#gone(writer)
    await this.#open(documentId, this.#random.of(editors))
  }

  readonly #breakDatabase = (): void => {
    const end = async () => {
      const admin = new pg.Client({ connectionString: this.#databaseUrl })
      await admin.connect()
      await admin.query(
        'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
      )
      await admin.end()
    }
    this.#request(end())
  }
}
