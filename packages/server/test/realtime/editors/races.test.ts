import { setTimeout as pause } from 'node:timers/promises'
import { WebSocketStatus } from '@hocuspocus/provider'
import { ApiError } from '@plenum/protocol'
import pg from 'pg'
import { afterEach, describe, expect, test } from 'vitest'
import * as Y from 'yjs'
import * as given from '../../support/given.ts'
import { createPostgresDatabase, startServer, stores, type TestServer } from '../../support/harness.ts'
import { eventually, encodedContent, synced } from '../../support/clients/convergence.ts'
import { hocuspocusClient } from '../../support/clients/hocuspocus-client.ts'
import { closeClients } from '../../support/clients/open-clients.ts'
import { yjsClient } from '../../support/clients/yjs-client.ts'
import { tokenFor } from '../../support/access/user-tokens.ts'
import { metric } from '../../support/measures/metrics-page.ts'
import { reportCounts, rounds } from '../../support/random/effort.ts'
import { createRandom } from '../../support/random/random.ts'

const actions = rounds(300)

const documents = ['doc_1', 'doc_2']
const editors = ['a', 'b']
const maxWriters = 12

const stops: (() => unknown)[] = []
afterEach(async () => {
  closeClients()
  for (const stop of stops.splice(0).toReversed()) await stop()
})

describe.each(stores)('random concurrent operations on %s', (store) => {
  test(
    '[R1] [R4] [R7] all clients of every editor converge to its stored content, and the server keeps nothing open after they leave',
    { timeout: 300_000 },
    async (context) => {
      const databaseUrl = store === 'postgres' ? await createPostgresDatabase() : undefined
      const data = databaseUrl === undefined ? undefined : { dataDir: '/tmp/unused', databaseUrl }
      const server = await startServer(store, { data, clockSpeed: 5 })
      stops.push(() => server.stop())
      const race = new Race(server, await given.tenant(server), databaseUrl)
      await race.run(actions)
      reportCounts(context, Object.fromEntries(race.counts))
      await race.settle()
      closeClients()
      // The server keeps editors for a few seconds for clients that reconnect.
      await expect.poll(() => openAt(server), { timeout: 60_000, interval: 500 }).toEqual([0, 0, 0])
    },
  )
})

/** Returns how many connections, documents and editors the server has open. */
function openAt(server: TestServer): Promise<(number | undefined)[]> {
  const names = ['plenum_websocket_connections', 'plenum_open_documents', 'plenum_open_editors']
  return Promise.all(names.map((name) => metric(server, name)))
}

/** The document does not exist, its content is not text, or the database is unavailable. */
const expectedStatuses = ['NOT_FOUND', 'INVALID_ARGUMENT', 'UNAVAILABLE']

/** A y-websocket or Hocuspocus client that has an editor open. */
interface Writer {
  documentId: string
  editorId: string
  doc: Y.Doc
  isOnline: boolean
  isSynced(): boolean
  connect(): void
  disconnect(): void
  destroy(): void
}

type Action = [name: string, weight: number, act: () => void | Promise<void>]

class Race {
  readonly counts = new Map<string, number>()
  readonly #server: TestServer
  readonly #tenant: given.Tenant
  readonly #databaseUrl: string | undefined
  readonly #random = createRandom()
  readonly #writers = new Set<Writer>()
  readonly #requests = new Set<Promise<unknown>>()
  #users = 0

  constructor(server: TestServer, tenant: given.Tenant, databaseUrl: string | undefined) {
    this.#server = server
    this.#tenant = tenant
    this.#databaseUrl = databaseUrl
  }

  get #actions(): Action[] {
    return [
      ['join', 4, () => this.#join()],
      ['leave', 3, () => this.#leave()],
      ['toggle connection', 4, () => this.#toggleConnection()],
      ['type', 60, () => this.#type()],
      ['remove', 20, () => this.#remove()],
      ['paste', 4, () => this.#paste()],
      ['nest', 10, () => this.#nest()],
      ['write by REST', 5, () => this.#writeByRest()],
      ['restore', 2, () => this.#restore()],
      ['delete document', 1, () => this.#deleteDocument()],
      ['break database', this.#databaseUrl ? 1 : 0, () => this.#breakDatabase()],
    ]
  }

  async run(count: number): Promise<void> {
    for (let first = 0; first < 4; first++) await this.#join()
    const actions = this.#actions.flatMap((action) => Array<Action>(action[1]).fill(action))
    for (let done = 0; done < count; done++) {
      const [name, , act] = this.#random.of(actions)
      this.counts.set(name, (this.counts.get(name) ?? 0) + 1)
      await act()
      await pause(this.#random(4))
    }
  }

  /** Reconnects all writers and expects that they all have the stored content. */
  async settle(): Promise<void> {
    await Promise.all(this.#requests)
    for (const documentId of documents) {
      for (const editorId of editors) await this.#settle(documentId, editorId)
    }
    expect(this.#server.logged.filter((line) => line.includes('DamagedLog'))).toEqual([])
  }

  async #settle(documentId: string, editorId: string): Promise<void> {
    const name = `org_1/${documentId}/${editorId}`
    const reader = yjsClient(this.#server, await tokenFor(this.#tenant, 'reader'), { name })
    const isInEditor = (one: Writer) => one.documentId === documentId && one.editorId === editorId
    const present = [...this.#writers].filter(isInEditor)
    await synced(reader)
    await eventually(() => {
      for (const one of present) if (!one.isOnline) one.connect()
      return present.every((one) => one.isOnline && one.isSynced())
    }).toBe(true)
    const docs = [reader.doc, ...present.map(({ doc }) => doc)]
    await expect
      .poll(() => new Set(docs.map(encodedContent)).size, { timeout: 20_000, message: name })
      .toBe(1)
    // REST returns the other root of an editor that has no text.
    const shown = [reader.text.toString(), reader.doc.getMap('nested').toJSON()]
    expect(shown).toContainEqual(await this.#stored(documentId, editorId))
  }

  async #stored(documentId: string, editorId: string): Promise<unknown> {
    try {
      const { data } = await this.#tenant.client.crdt.get({ organizationId: 'org_1', documentId, editorId })
      return data[0]?.data ?? ''
    } catch (error) {
      if (error instanceof ApiError && error.status === 'NOT_FOUND') return ''
      throw error
    }
  }

  async #join(): Promise<void> {
    if (this.#writers.size < maxWriters) {
      await this.#open(this.#random.of(documents), this.#random.of(editors))
    }
  }

  async #open(documentId: string, editorId: string): Promise<void> {
    const isYjs = this.#random(2) === 0
    // The database may be unavailable.
    const token = await tokenFor(this.#tenant, `user${this.#users++ % 5}`).catch(() => undefined)
    if (token !== undefined)
      this.#writers.add((isYjs ? this.#yjs : this.#hocuspocus)(token, documentId, editorId))
  }

  readonly #yjs = (token: string, documentId: string, editorId: string): Writer => {
    const { provider, doc } = yjsClient(this.#server, token, { name: `org_1/${documentId}/${editorId}` })
    const writer: Writer = {
      documentId,
      editorId,
      doc,
      isOnline: true,
      isSynced: () => provider.synced,
      connect() {
        writer.isOnline = true
        provider.connect()
      },
      disconnect() {
        writer.isOnline = false
        provider.disconnect()
      },
      destroy: () => provider.destroy(),
    }
    // A client that reconnects would send its copy of the deleted content again.
    provider.on('connection-close', (event) => {
      if (event?.code === 4404) this.#removeWriter(writer)
    })
    return writer
  }

  readonly #hocuspocus = (token: string, documentId: string, editorId: string): Writer => {
    const { provider, doc, socket } = hocuspocusClient(this.#server, token, {
      name: `org_1/${documentId}/${editorId}`,
      onAuthenticationFailed: () => this.#removeWriter(writer),
    })
    // Closing a socket that is still connecting emits an error, and the provider has already removed its listener.
    const closing = () => socket.webSocket?.addEventListener('error', () => {})
    const writer: Writer = {
      documentId,
      editorId,
      doc,
      isOnline: true,
      isSynced: () => provider.isSynced && !provider.hasUnsyncedChanges,
      connect() {
        // The socket ignores `connect` until it has disconnected.
        if (socket.status !== WebSocketStatus.Disconnected) return
        writer.isOnline = true
        void socket.connect()
      },
      disconnect() {
        writer.isOnline = false
        closing()
        socket.disconnect()
      },
      destroy() {
        provider.destroy()
        closing()
        socket.destroy()
      },
    }
    return writer
  }

  #removeWriter(writer: Writer): void {
    this.#writers.delete(writer)
    writer.destroy()
  }

  #anyWriter(): Writer | undefined {
    return this.#random.of([...this.#writers])
  }

  #leave(): void {
    const writer = this.#anyWriter()
    if (this.#writers.size > 3 && writer) this.#removeWriter(writer)
  }

  /** Disconnects a writer, or reconnects it. */
  #toggleConnection(): void {
    const writer = this.#anyWriter()
    if (writer?.isOnline) writer.disconnect()
    else writer?.connect()
  }

  #type(): void {
    const text = this.#anyWriter()?.doc.getText('content')
    text?.insert(this.#random(text.length + 1), `${this.#random(1_000)} `)
  }

  #remove(): void {
    const text = this.#anyWriter()?.doc.getText('content')
    if (!text || text.length === 0) return
    const from = this.#random(text.length)
    text.delete(from, Math.min(text.length - from, 1 + this.#random(8)))
  }

  /** Pastes enough text to cause a snapshot from time to time. */
  #paste(): void {
    const text = this.#anyWriter()?.doc.getText('content')
    if (text && text.length > 60_000) text.delete(0, 50_000)
    else text?.insert(0, 'paste '.repeat(2_000))
  }

  /** Nests types in types, which other writers fill and delete concurrently. */
  #nest(): void {
    const writer = this.#anyWriter()
    if (!writer) return
    const map = writer.doc.getMap<Y.Map<unknown>>('nested')
    const key = `k${this.#random(3)}`
    const child = map.get(key)
    if (!child || this.#random(4) === 0) map.set(key, new Y.Map())
    else child.set(`v${this.#random(3)}`, new Y.Array())
  }

  #request(request: Promise<unknown>): void {
    const done = request.catch((error: unknown) => {
      if (!(error instanceof ApiError && expectedStatuses.includes(error.status))) throw error
    })
    done.catch(() => {})
    this.#requests.add(done)
  }

  #randomEditor() {
    return {
      organizationId: 'org_1',
      documentId: this.#random.of(documents),
      editorId: this.#random.of(editors),
    }
  }

  #writeByRest(): void {
    const data = `rest ${this.#random(1_000)} `.repeat(this.#random(20))
    const content = { type: 'text', contentKey: 'content', data } as const
    this.#request(this.#tenant.client.crdt.update({ ...this.#randomEditor(), ...content }))
  }

  /** Saves a version and restores it right after. */
  #restore(): void {
    const editorRef = this.#randomEditor()
    const { crdtVersions } = this.#tenant.client
    const added = crdtVersions.add({ ...editorRef, name: 'v' })
    this.#request(added.then(({ data: { versionId } }) => crdtVersions.restore({ ...editorRef, versionId })))
  }

  async #deleteDocument(): Promise<void> {
    const documentId = this.#random.of(documents)
    const { documents: api } = this.#tenant.client
    // The whole call fails if the document does not exist.
    const deleted = api.delete({ organizationId: 'org_1', documentIds: [documentId] })
    this.#request(deleted.catch((error: unknown) => expect(error).toBeInstanceOf(ApiError)))
    await Promise.allSettled(this.#requests)
    // Writers that were offline have not received the deletion yet.
    for (const writer of this.#writers) if (writer.documentId === documentId) this.#removeWriter(writer)
    await this.#open(documentId, this.#random.of(editors))
  }

  #breakDatabase(): void {
    const end = async () => {
      const admin = new pg.Client({ connectionString: this.#databaseUrl })
      // A concurrent call of this action may terminate this connection too.
      admin.on('error', () => {})
      await admin.connect()
      await admin.query(
        `select pg_terminate_backend(pid) from pg_stat_activity
         where datname = current_database() and pid <> pg_backend_pid()`,
      )
      await admin.end()
    }
    this.#request(end().catch(() => {}))
  }
}
