import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { newId } from '../../../src/access/ids.ts'
import * as migrations from '../../../src/store/documents/document-migrations.ts'
import * as jobs from '../../../src/store/jobs.ts'
import * as editorLog from '../../../src/store/editors/log.ts'
import * as liveStateLog from '../../../src/store/documents/live-state-log.ts'
import * as liveStates from '../../../src/store/documents/live-states.ts'
import * as presence from '../../../src/store/documents/presence.ts'
import * as given from '../../support/given.ts'
import { startServer, stores, type TestServer, useServer } from '../../support/harness.ts'
import { metric } from '../../support/measures/metrics-page.ts'

const refused = (message: string, status = 'INVALID_ARGUMENT') => ({
  status: 400,
  body: { error: { status, message } },
})

describe.each(stores)('document migrations on %s', (store) => {
  const server = useServer(store, { isOwn: true })
  const organizationId = 'o1'
  const migrationInput = { organizationId, documentId: 'old', newDocumentId: 'new' }

  const tenantWith = async (documentIds: string[], on: TestServer = server) => {
    const tenant = await given.tenant(on)
    await given.organization(tenant, organizationId)
    const documents = documentIds.map((documentId) => ({ documentId }))
    if (documents.length > 0) await tenant.client.documents.add({ organizationId, documents })
    return tenant
  }
  const migrate = async ({ client }: given.Tenant, documentId = 'old', newDocumentId = 'new') =>
    (await client.documents.migrate({ organizationId, documentId, newDocumentId })).data.migrationId
  const statusOf = async ({ client }: given.Tenant, migrationId: string) =>
    (await client.documents.migrateStatus({ organizationId, migrationId })).data.status
  const completed = async (tenant: given.Tenant, migrationId: string) =>
    expect.poll(() => statusOf(tenant, migrationId), { timeout: 30_000 }).toBe('completed')
  const all = async ({ client }: given.Tenant) => (await client.documents.get({ organizationId })).data
  const post = async ({ headers }: given.Tenant, verb: string, data: unknown, version = 'v2') => {
    const { status, body } = await server.post(
      `/${version}/organizations/documents/${verb}`,
      { data },
      headers,
    )
    return { status, body }
  }
  /** Fills a document with everything that it can contain except versions. `mark` distinguishes two documents. */
  const fill = async ({ client }: given.Tenant, documentId: string, mark: string, keys: string[]) => {
    const at = { organizationId, documentId }
    for (const key of keys) {
      await client.users.add({
        ...at,
        users: [{ userId: key, accessRole: mark === 'old' ? 'editor' : 'viewer' }],
      })
      await client.crdt.add({ ...at, editorId: key, type: 'text', data: mark })
      await client.crdt.update({ ...at, editorId: key, type: 'text', data: `${mark} ${key}` })
      await client.presence.add({ ...at, users: [{ userId: key, name: mark }] })
      await client.liveState.broadcast({ ...at, liveStateDataId: key, data: { mark } })
      await client.notifications.add({
        ...at,
        notificationId: `${mark}-${key}`,
        actionUser: { userId: 'author' },
        displayHeadlineMessageTemplate: mark,
        displayBodyMessage: mark,
        notifyUsers: [{ userId: key }],
      })
      await client.notifications.setConfig({
        organizationId,
        documentIds: [documentId],
        userIds: [key],
        config: { inbox: mark === 'old' ? 'MINE' : 'NONE' },
      })
    }
  }
  /** Returns the contents of a document, with the marks that show which document they came from. */
  const content = async ({ client, apiKey }: given.Tenant, documentId: string) => {
    const at = { organizationId, documentId }
    const { read } = server.database
    const users = (await client.users.get(at)).data as { userId: string; accessRole?: string }[]
    const config = await client.notifications.getConfig({
      organizationId,
      documentIds: [documentId],
      userId: 'a',
    })
    return {
      users: Object.fromEntries(users.map(({ userId, accessRole }) => [userId, accessRole])),
      editors: Object.fromEntries((await client.crdt.get(at)).data.map(({ id, data }) => [id, data])),
      presence: Object.fromEntries(
        (await presence.list(read, apiKey, organizationId, documentId, Date.now())).map(
          ({ userId, name }) => [userId, name],
        ),
      ),
      liveStates: Object.fromEntries(
        (await liveStates.list(read, apiKey, organizationId, documentId)).map((state) => [
          state.liveStateDataId,
          state.data.mark,
        ]),
      ),
      notifications: (await client.notifications.get(at)).data.map(({ id }) => id).sort(),
      inboxOfA: config.data[0]?.config.inbox,
    }
  }
  const nothing = {
    users: {},
    editors: {},
    presence: {},
    liveStates: {},
    notifications: [],
    inboxOfA: 'ALL',
  }

  test('[10.8] migrate moves a document with all its contents to a new id', async () => {
    const tenant = await tenantWith([])
    const { client } = tenant
    await client.folders.add({ organizationId, folders: [{ folderId: 'f1' }] })
    await client.documents.add({
      organizationId,
      folderId: 'f1',
      documents: [{ documentId: 'old', documentName: 'Plan', project: 7, accessType: 'restricted' }],
    })
    await client.documents.updateDisableState({ organizationId, documentIds: ['old'], disabled: true })
    await fill(tenant, 'old', 'old', ['a', 'b'])
    const [before] = await all(tenant)
    const inside = await content(tenant, 'old')

    const answer = await client.documents.migrate(migrationInput)
    expect(answer).toEqual({
      message: 'Document migration started successfully.',
      data: { migrationId: expect.stringMatching(/^mig_/) },
    })
    await completed(tenant, answer.data.migrationId)
    expect(await all(tenant)).toEqual([
      { ...before, id: 'new', documentId: 'new', lastUpdated: expect.any(Number) },
    ])
    expect(await content(tenant, 'new')).toEqual(inside)
    expect(inside).toEqual({
      users: { a: 'editor', b: 'editor' },
      editors: { a: 'old a', b: 'old b' },
      presence: { a: 'old', b: 'old' },
      liveStates: { a: 'old', b: 'old' },
      notifications: ['old-a', 'old-b'],
      inboxOfA: 'MINE',
    })
    expect(await content(tenant, 'old')).toEqual(nothing)
    await client.crdt.update({ organizationId, documentId: 'new', editorId: 'a', type: 'text', data: 'more' })
    expect((await content(tenant, 'new')).editors).toMatchObject({ a: 'more' })
  })

  test('[R21] a migrated live state is newer than all that clients of the target have seen, and a migrated editor keeps its owners', async () => {
    const tenant = await tenantWith([])
    const { client, apiKey } = tenant
    const { read } = server.database
    const at = (documentId: string) => ({ organizationId, documentId })
    const set = (documentId: string, liveStateDataId: string) =>
      client.liveState.broadcast({ ...at(documentId), liveStateDataId, data: {} })
    for (const id of ['x', 'y']) await set('old', id)
    for (const id of ['x', 'n1', 'n2', 'n3']) await set('new', id)
    await server.database.write((db) =>
      editorLog.append(
        db,
        [
          {
            apiKey,
            editor: { ...at('old'), editorId: 'e1' },
            update: Uint8Array.of(0, 0),
            writer: { userId: 'u1', sessionId: null },
            create: { type: null, contentKey: null },
            owners: [[7, 'u1']],
          },
        ],
        Date.now(),
      ),
    )
    const readSince = async (seq: number) =>
      (await liveStateLog.readSince(read, apiKey, { organizationId, documentId: 'new' }, seq))!
    const { position: before } = await readSince(0)
    await completed(tenant, (await client.documents.migrate(migrationInput)).data.migrationId)

    const { position: after, states } = await readSince(before.seq)
    expect(after).toEqual({ epoch: before.epoch, seq: before.seq + 1 })
    expect(states.map((state) => state.liveStateDataId)).toEqual(['y'])
    const moved = await editorLog.load(read, apiKey, { ...at('new'), editorId: 'e1' })
    expect(moved).toMatchObject({ seq: 1, complete: true, owners: new Map([[7, 'u1']]) })
  })

  test('[10.8] migrate merges the contents of both documents, and the target wins where both have a value', async () => {
    const tenant = await tenantWith([])
    const { client } = tenant
    await client.folders.add({ organizationId, folders: [{ folderId: 'f1' }, { folderId: 'f2' }] })
    await client.documents.add({
      organizationId,
      folderId: 'f1',
      documents: [{ documentId: 'old', documentName: 'old', both: 'old', mine: 1, accessType: 'restricted' }],
    })
    await client.documents.add({
      organizationId,
      folderId: 'f2',
      documents: [{ documentId: 'new', documentName: 'new', both: 'new', theirs: 2 }],
    })
    await fill(tenant, 'old', 'old', ['a', 'b'])
    await fill(tenant, 'new', 'new', ['a', 'c'])
    await completed(tenant, await migrate(tenant))

    expect(await all(tenant)).toMatchObject([
      {
        id: 'new',
        documentName: 'new',
        both: 'new',
        mine: 1,
        theirs: 2,
        folderId: 'f2',
        accessType: 'restricted',
        disabled: false,
      },
    ])
    expect(await content(tenant, 'new')).toEqual({
      users: { a: 'viewer', b: 'editor', c: 'viewer' },
      editors: { a: 'new a', b: 'old b', c: 'new c' },
      presence: { a: 'new', b: 'old', c: 'new' },
      liveStates: { a: 'new', b: 'old', c: 'new' },
      notifications: ['new-a', 'new-c', 'old-a', 'old-b'],
      inboxOfA: 'NONE',
    })
    expect(await content(tenant, 'old')).toEqual(nothing)
  })

  test('[10.8] a merged document has the folder of the source if the target has none, and is disabled if the source was', async () => {
    const tenant = await tenantWith(['new'])
    const { client } = tenant
    await client.folders.add({ organizationId, folders: [{ folderId: 'f1', accessType: 'restricted' }] })
    await client.documents.add({ organizationId, folderId: 'f1', documents: [{ documentId: 'old' }] })
    await client.documents.updateDisableState({ organizationId, documentIds: ['old'], disabled: true })
    await completed(tenant, await migrate(tenant))
    expect(await all(tenant)).toMatchObject([
      { id: 'new', folderId: 'f1', accessType: 'restricted', disabled: true },
    ])
  })

  test('[10.8] migrate changes no other document, organization or API key', async () => {
    const [tenant, other] = [await tenantWith(['old', 'beside']), await tenantWith(['old'])]
    await given.organization(tenant, 'o2')
    await tenant.client.documents.add({ organizationId: 'o2', documents: [{ documentId: 'old' }] })
    await fill(tenant, 'beside', 'new', ['a'])
    await fill(other, 'old', 'old', ['a'])
    const before = [await content(tenant, 'beside'), await content(other, 'old')]
    await completed(tenant, await migrate(tenant))
    expect([await content(tenant, 'beside'), await content(other, 'old')]).toEqual(before)
    expect((await tenant.client.documents.get({ organizationId: 'o2' })).data).toMatchObject([{ id: 'old' }])
    expect(await all(other)).toMatchObject([{ id: 'old' }])
  })

  test('[10.8] a document can be migrated to a new id and back', async () => {
    const tenant = await tenantWith(['old'])
    await fill(tenant, 'old', 'old', ['a'])
    const inside = await content(tenant, 'old')
    await completed(tenant, await migrate(tenant, 'old', 'new'))
    await completed(tenant, await migrate(tenant, 'new', 'old'))
    expect(await content(tenant, 'old')).toEqual(inside)
    expect(await all(tenant)).toMatchObject([{ id: 'old' }])
  })

  test('[10.8] migrate refuses a missing document, the same id and an invalid body, and exists under v2 only', async () => {
    const tenant = await tenantWith(['old'])
    const faults: [Record<string, unknown>, string][] = [
      [{ ...migrationInput, documentId: 'nowhere' }, 'Document does not exist.'],
      [{ ...migrationInput, organizationId: 'nowhere' }, 'Document does not exist.'],
      [{ ...migrationInput, newDocumentId: 'old' }, 'newDocumentId must differ from documentId.'],
      [{ ...migrationInput, organizationId: undefined }, 'organizationId is required.'],
      [{ ...migrationInput, documentId: ' ' }, 'documentId is required.'],
      [{ ...migrationInput, newDocumentId: undefined }, 'newDocumentId is required.'],
      [
        { ...migrationInput, newDocumentId: 'a\nb' },
        'newDocumentId must not contain control characters and must not be "." or "..".',
      ],
    ]
    for (const [data, message] of faults) {
      expect(await post(tenant, 'migrate', data), message).toEqual(refused(message))
    }
    for (const verb of ['migrate', 'migrate/status']) {
      expect(await post(tenant, verb, migrationInput, 'v1')).toMatchObject({ status: 404 })
    }
    expect(await all(tenant)).toMatchObject([{ id: 'old' }])
  })

  test('[10.8.3] migrate is refused while another migration of either document is running', async () => {
    const tenant = await tenantWith(['a', 'b', 'c', 'd'])
    // The migration is stored without a job, so it stays pending as long as the test needs.
    const migration = { migrationId: newId('mig'), documentId: 'a', newDocumentId: 'b' }
    const { database } = server
    await database.write((db) => migrations.add(db, tenant.apiKey, organizationId, migration, Date.now()))
    expect(await statusOf(tenant, migration.migrationId)).toBe('pending')
    const running = refused('A migration for this document is already running.', 'FAILED_PRECONDITION')
    for (const status of ['pending', 'in_progress'] as const) {
      await database.write((db) =>
        migrations.advance(db, tenant.apiKey, organizationId, migration.migrationId, status, Date.now()),
      )
      for (const [documentId, newDocumentId] of [
        ['a', 'x'],
        ['b', 'x'],
        ['c', 'a'],
        ['c', 'b'],
      ]) {
        expect(await post(tenant, 'migrate', { organizationId, documentId, newDocumentId })).toEqual(running)
      }
    }
    await completed(tenant, await migrate(tenant, 'c', 'd'))
    await database.write((db) =>
      migrations.advance(db, tenant.apiKey, organizationId, migration.migrationId, 'failed', Date.now()),
    )
    await completed(tenant, await migrate(tenant, 'a', 'b'))
  })

  test('[10.8.3] only one of several concurrent migrations of one document starts', async () => {
    const tenant = await tenantWith(['old'])
    const answers = await Promise.allSettled(['x', 'y', 'z'].map((id) => migrate(tenant, 'old', id)))
    const started = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []))
    await Promise.all(started.map((migrationId) => completed(tenant, migrationId)))
    expect(started).toHaveLength(1)
    expect(await all(tenant)).toHaveLength(1)
  })

  test('[4.18] [10.9] migrateStatus returns the id and the status, and completed is final', async () => {
    const tenant = await tenantWith(['old'])
    const migrationId = await migrate(tenant)
    await completed(tenant, migrationId)
    expect(await tenant.client.documents.migrateStatus({ organizationId, migrationId })).toEqual({
      message: 'Migration status retrieved successfully.',
      data: { migrationId, status: 'completed' },
    })
    await tenant.client.documents.add({ organizationId, documents: [{ documentId: 'old' }] })
    await runAgain(tenant, migrationId)
    expect(await statusOf(tenant, migrationId)).toBe('completed')
    expect((await all(tenant)).map((document) => document.id).sort()).toEqual(['new', 'old'])
  })

  test('[10.9] migrateStatus refuses a missing migration and one of another organization or API key', async () => {
    const [tenant, other] = [await tenantWith(['old']), await tenantWith(['old'])]
    await given.organization(tenant, 'o2')
    const migrationId = await migrate(tenant)
    const unknown = refused('Migration does not exist.')
    expect(await post(tenant, 'migrate/status', { organizationId, migrationId: 'mig_x' })).toEqual(unknown)
    expect(await post(tenant, 'migrate/status', { organizationId: 'o2', migrationId })).toEqual(unknown)
    expect(await post(other, 'migrate/status', { organizationId, migrationId })).toEqual(unknown)
    expect(await post(tenant, 'migrate/status', { migrationId })).toEqual(
      refused('organizationId is required.'),
    )
    expect(await post(tenant, 'migrate/status', { organizationId, migrationId: '' })).toEqual(
      refused('migrationId is required.'),
    )
    await completed(tenant, migrationId)
  })

  test('[10.9] a migration fails when its document does not exist when it runs', async () => {
    const tenant = await tenantWith(['new'])
    const migration = { migrationId: newId('mig'), documentId: 'old', newDocumentId: 'new' }
    await server.database.write((db) =>
      migrations.add(db, tenant.apiKey, organizationId, migration, Date.now()),
    )
    await runAgain(tenant, migration.migrationId)
    expect(await statusOf(tenant, migration.migrationId)).toBe('failed')
    expect(await all(tenant)).toMatchObject([{ id: 'new' }])
  })

  test('[10.9] a starting server finishes the migration of a server that crashed', async () => {
    const died = await startServer(store, { jobPollMs: 20 })
    const { client, apiKey, authToken } = await tenantWith(['old'], died)
    await client.crdt.add({ organizationId, documentId: 'old', editorId: 'e', type: 'text', data: 'kept' })
    await died.server.stop()
    // The database is left as if the server had crashed after it claimed the job and committed its first step.
    const migrationId = newId('mig')
    const { database } = died
    await database.write(async (db) => {
      await migrations.add(db, apiKey, organizationId, { ...migrationInput, migrationId }, Date.now())
      await jobs.add(db, {
        jobId: newId('job'),
        apiKey,
        kind: 'document.migrate',
        payload: { organizationId, migrationId },
        now: Date.now(),
      })
    })
    await jobs.claim(database, { apiKey, lane: '' }, Date.now())
    await database.write((db) =>
      migrations.advance(db, apiKey, organizationId, migrationId, 'in_progress', Date.now()),
    )

    const next = await died.restart()
    // A server that alone uses its database resumes the job at once. On PostgreSQL the lease of the job has to end first.
    if (!next.database.exclusive) next.clock.offsetMs += 61_000
    const restarted = next.client({ apiKey, authToken })
    await expect
      .poll(
        async () => (await restarted.documents.migrateStatus({ organizationId, migrationId })).data.status,
        { timeout: 30_000 },
      )
      .toBe('completed')
    expect((await restarted.crdt.get({ organizationId, documentId: 'new' })).data).toMatchObject([
      { id: 'e', data: 'kept' },
    ])
    expect((await restarted.documents.get({ organizationId })).data).toMatchObject([{ id: 'new' }])
    await next.stop()
  })

  test('[10.9] a migration that fails three times stays failed, and the document is unchanged', async () => {
    const own = await startServer(store, { jobPollMs: 20 })
    const tenant = await tenantWith(['old', 'new'], own)
    const { client } = tenant
    const at = { organizationId, documentId: 'old' }
    await client.documents.update({
      organizationId,
      documents: [{ documentId: 'old', documentName: 'Plan' }],
    })
    await client.users.add({ ...at, users: [{ userId: 'u1' }] })
    await client.crdt.add({ ...at, editorId: 'e', type: 'text', data: 'kept' })
    const before = await all(tenant)
    await refuseMoves(own)

    const migrationId = await migrate(tenant)
    const seen = new Set<string>()
    await expect
      .poll(
        async () => {
          own.clock.offsetMs += 60_000
          const status = await statusOf(tenant, migrationId)
          seen.add(status)
          return status
        },
        { timeout: 30_000 },
      )
      .toBe('failed')
    expect([...seen].filter((status) => status !== 'pending')).toEqual(['in_progress', 'failed'])
    expect(own.logged.filter((line) => line.includes('job failed'))).toHaveLength(3)
    expect(await metric(own, 'plenum_job_failures_total', { job: 'document.migrate' })).toBe(3)
    expect(await all(tenant)).toEqual(before)
    expect((await client.users.get(at)).data).toMatchObject([{ userId: 'u1' }])
    expect((await client.crdt.get(at)).data).toMatchObject([{ id: 'e', data: 'kept' }])
    expect((await client.crdt.get({ organizationId, documentId: 'new' })).data).toEqual([])

    await allowMoves(own)
    await runAgain(tenant, migrationId, own)
    expect(await statusOf(tenant, migrationId)).toBe('failed')
    expect(await all(tenant)).toEqual(before)
    await completed(tenant, await migrate(tenant))
    await own.stop()
  })

  /** Gives the migration a second job, as if the first had not been removed, and waits until it has run. */
  async function runAgain({ apiKey, client }: given.Tenant, migrationId: string, on = server) {
    const now = Date.now() + on.clock.offsetMs - 1
    await on.database.write((db) =>
      jobs.add(db, {
        jobId: newId('job'),
        apiKey,
        kind: 'document.migrate',
        payload: { organizationId, migrationId },
        now,
      }),
    )
    // Another migration wakes the runner, which takes the older job first.
    const documentId = newId('doc')
    await client.documents.add({ organizationId, documents: [{ documentId }] })
    const migration = { organizationId, documentId, newDocumentId: `${documentId}2` }
    const { data } = await client.documents.migrate(migration)
    const status = async () =>
      (await client.documents.migrateStatus({ organizationId, migrationId: data.migrationId })).data.status
    await expect.poll(status, { timeout: 30_000 }).toBe('completed')
    await client.documents.delete({ organizationId, documentIds: [migration.newDocumentId] })
  }
})

/** Makes the database refuse to move editors: the migration fails after it has written the row of the target. */
async function refuseMoves({ database }: TestServer) {
  await database.write(async (db) => {
    if (database.dialect === 'sqlite') {
      await sql`create trigger refuse before update of document_id on editors
        begin select raise(abort, 'refused'); end`.execute(db)
      return
    }
    await sql`create function refuse() returns trigger language plpgsql as
      $$ begin raise exception 'refused'; end $$`.execute(db)
    await sql`create trigger refuse before update of document_id on editors
      for each row execute function refuse()`.execute(db)
  })
}

async function allowMoves({ database }: TestServer) {
  await database.write((db) =>
    (database.dialect === 'sqlite' ? sql`drop trigger refuse` : sql`drop trigger refuse on editors`).execute(
      db,
    ),
  )
}
