import { describe, expect, test } from 'vitest'
import type { BusMessage } from '../../src/bus.ts'
import { LargeDeletions } from '../../src/deletions/large-deletions.ts'
import { type Clock, systemClock } from '../../src/platform/clock.ts'
import { migrateDocument } from '../../src/jobs/migrate-document.ts'
import { newId } from '../../src/access/ids.ts'
import * as migrations from '../../src/store/documents/document-migrations.ts'
import * as liveStates from '../../src/store/documents/live-states.ts'
import * as editorLog from '../../src/store/editors/log.ts'
import type { Database } from '../../src/store/engine/db.ts'
import { afterWrite, lostAnswer } from '../support/faults/after-write.ts'
import { eventually } from '../support/clients/convergence.ts'
import { SteppedClock } from '../support/clock.ts'
import * as given from '../support/given.ts'
import { stores, useServer } from '../support/harness.ts'

const organizationId = 'o1'
const documentRef = { organizationId, documentId: 'old' }
const change = { liveStateDataId: 'slide', data: '{"page":2}', merge: false, userId: 'u1' }

describe.each(stores)('moving a large document on %s', (store) => {
  const server = useServer(store)
  /** The job writes its state, on PostgreSQL a reservation, and then moves the document. */
  const numberOfMove = store === 'sqlite' ? 2 : 3

  /** Adds a document that is too large for one transaction, and returns functions that move it. */
  async function largeDocument() {
    const tenant = await given.tenant(server)
    const { apiKey, client } = tenant
    await given.organization(tenant, organizationId)
    await client.crdt.add({ ...documentRef, editorId: 'note', type: 'text', data: 'x'.repeat(3_000_000) })
    await client.liveState.broadcast({ ...documentRef, liveStateDataId: 'slide', data: { page: 1 } })
    await client.users.add({ ...documentRef, users: [{ userId: 'ada', accessRole: 'viewer' }] })
    const migrationId = newId('mig')
    const migration = { migrationId, documentId: 'old', newDocumentId: 'new' }
    await server.database.write((db) => migrations.add(db, apiKey, organizationId, migration, Date.now()))
    const signals: Omit<BusMessage, 'apiKey'>[] = []
    const deletionsOn = (database: Database, clock: Clock = systemClock) =>
      new LargeDeletions({
        database,
        clock,
        onGone() {},
        createAccessChange: () => ({ async store() {}, publish() {} }),
        onFailure() {},
      })
    /** Runs the job on this database, as a server does. */
    const move = async (database: Database) => {
      const deletions = deletionsOn(database)
      const payload = { organizationId, migrationId }
      const handler = migrateDocument({ removeInSteps: (...args) => deletions.removeWith(...args) })
      const claim = { jobId: newId('job'), apiKey, claim: 1, lane: '' }
      await handler.run({
        database,
        job: { ...claim, kind: 'document.migrate', payload, runAt: 0, attempts: 1 },
        now: Date.now(),
        clock: systemClock,
        signals: {
          store: async () => {},
          publish: (messages) => void signals.push(...messages),
          send: (message) => void signals.push(message),
        },
        wake() {},
        stopping: new AbortController().signal,
      })
    }
    /** Continues the move as another server does after the lease of 30 s. */
    const resume = () => deletionsOn(server.database, new SteppedClock(Date.now() + 31_000)).resume()
    const usersOf = async (documentId: string) =>
      ((await client.users.get({ organizationId, documentId })).data as { userId: string }[]).map(
        ({ userId }) => userId,
      )
    const editorsOf = async (documentId: string) =>
      (await client.crdt.get({ organizationId, documentId })).data.map(({ id }) => id)
    return { ...tenant, move, resume, signals, usersOf, editorsOf }
  }
  const addEditor = (apiKey: string, editorId: string) => {
    const writer = { userId: 'u1', sessionId: null }
    const create = { type: null, contentKey: null }
    const editor = { ...documentRef, editorId }
    const entry = { apiKey, editor, update: Uint8Array.of(0, 0), writer, create, owners: [] }
    return server.database.write((db) => editorLog.append(db, [entry], Date.now()))
  }

  test('[10.8] [O2.4] when the answer to the commit of a move is lost, the move is finished, and open sessions read both documents again', async () => {
    const { client, move, resume, signals, usersOf } = await largeDocument()
    const losesAnswer = afterWrite(server.database, numberOfMove, () => Promise.reject(lostAnswer))
    await expect(move(losesAnswer)).rejects.toBe(lostAnswer)
    await move(server.database)
    const bothDocuments = { kind: 'changed', organizationId, documentIds: ['old', 'new'] }
    expect(signals).toEqual([bothDocuments, { kind: 'access' }])
    await resume()
    await eventually(() => usersOf('new')).toEqual(['ada'])
    const ids = async () => (await client.documents.get({ organizationId })).data.map(({ id }) => id)
    await eventually(ids).toEqual(['new'])
  })

  test('[10.8] [R4] what is written to a document after its contents were moved is refused, not lost', async () => {
    const { apiKey, client, move, editorsOf } = await largeDocument()
    const refused: unknown[] = []
    const writes = afterWrite(server.database, numberOfMove, async () => {
      refused.push(...(await addEditor(apiKey, 'late')))
      refused.push(
        await server.database.write((db) => liveStates.set(db, apiKey, documentRef, [change], Date.now())),
      )
    })
    await move(writes)
    expect(refused).toEqual([undefined, undefined])
    expect(await editorsOf('new')).toEqual(['note'])
    expect(await editorsOf('old')).toEqual([])
    await client.crdt.add({ ...documentRef, editorId: 'late', type: 'text', data: 'a new document' })
    expect(await editorsOf('old')).toEqual(['late'])
  })

  test.runIf(store === 'sqlite')(
    '[10.8] [0.5] calls that reach a document after its contents were moved fail with ABORTED',
    async () => {
      const { client, move } = await largeDocument()
      const statuses: unknown[] = []
      const statusOf = (call: Promise<unknown>) => call.catch(({ status }) => status)
      const calls = afterWrite(server.database, numberOfMove, async () => {
        const add = client.crdt.add({ ...documentRef, editorId: 'late', type: 'text', data: 'late' })
        statuses.push(await statusOf(add))
        const broadcast = client.liveState.broadcast({ ...documentRef, liveStateDataId: 'slide', data: {} })
        statuses.push(await statusOf(broadcast))
      })
      await move(calls)
      expect(statuses).toEqual(['ABORTED', 'ABORTED'])
    },
  )

  test.runIf(store === 'postgres')(
    '[10.8] an editor that is created while its document is moved is moved too',
    async () => {
      const { apiKey, move, editorsOf } = await largeDocument()
      let writes = 0
      const addsEditor: Database = {
        ...server.database,
        read: server.database.read,
        write: (work, lane) =>
          server.database.write(async (db) => {
            const result = await work(db)
            if (++writes === numberOfMove) await addEditor(apiKey, 'late')
            return result
          }, lane),
      }
      await move(addsEditor)
      expect(await editorsOf('new')).toEqual(['late', 'note'])
    },
  )
})
