import pg from 'pg'
import { describe, expect, onTestFinished, test } from 'vitest'
import * as given from '../../support/given.ts'
import { stores, useServer } from '../../support/harness.ts'
import { storedLiveStates } from '../../support/data/live-documents.ts'
import { heldDisk } from '../../support/faults/held-disk.ts'
import { eventually } from '../../support/clients/convergence.ts'
import { RealtimeSocket } from '../../support/clients/realtime-socket.ts'
import { allowLoopback, useProvider } from '../../support/receivers/permission-provider.ts'
import { withPostgres } from '../../support/faults/postgres-faults.ts'
import { tokenFor } from '../../support/access/user-tokens.ts'

describe.each(stores)('live states of several tenants on %s', (store) => {
  const disk = heldDisk()
  // The 400 ms for which the renewal of a role waits for the permission provider are 8 s.
  const server = useServer(store, { env: allowLoopback, sync: disk.sync, clockSpeed: 0.05, isAlone: true })

  /** Keeps the next transaction that stores live states from ending. */
  async function holdStores() {
    if (store === 'sqlite') {
      disk.hold()
      return { isHeld: () => eventually(disk.waiting).toBe(1), release: async () => disk.release() }
    }
    const [holder, watcher] = [1, 2].map(() => new pg.Client(server.data.databaseUrl)) as [
      pg.Client,
      pg.Client,
    ]
    await Promise.all([holder.connect(), watcher.connect()])
    onTestFinished(async () => void (await Promise.all([holder.end(), watcher.end()])))
    await holder.query('begin; lock table live_states in exclusive mode')
    const waiting = async () =>
      (await watcher.query(`select 1 from pg_locks where relation = 'live_states'::regclass and not granted`))
        .rowCount
    return { isHeld: () => eventually(waiting).toBe(1), release: () => holder.query('rollback') }
  }

  test('[R13.6] [S1] live states that wait for the permission provider of one tenant delay no live state of another tenant, and are stored when it answers', async () => {
    const [slow, quick] = [await given.tenant(server), await given.tenant(server)]
    const provider = await useProvider(slow)
    const expiresAt = Date.now() + 60_000
    provider.decide = () => ({ hasAccess: true, accessRole: 'editor', expiresAt })
    const [ada, bob] = [
      await RealtimeSocket.connect(server, await tokenFor(slow)),
      await RealtimeSocket.connect(server, await tokenFor(quick, 'bob')),
    ]
    await ada.open()
    await bob.open()
    expect(await bob.set('a', { n: 0 })).toMatchObject({ type: 'done' })

    const { isHeld, release } = await holdStores()
    const first = ada.set('a', { n: 1 })
    await isHeld()
    const second = ada.set('a', { n: 2 })
    await ada.settled()
    const asked = provider.calls.length
    const { respond } = provider
    let answer = () => {}
    provider.respond = (...call) => void (answer = () => respond(...call))
    provider.decide = () => ({ hasAccess: true, accessRole: 'editor' })
    // The answer about Ada ends.
    server.clock.offsetMs += 120_000
    await release()
    await eventually(() => provider.calls.length).toBe(asked + 1)
    for (let n = 1; n <= 3; n++) expect(await bob.set('a', { n })).toMatchObject({ type: 'done' })
    // The server has neither answered Ada nor closed the document for her.
    expect(ada.messages.filter(({ type }) => type !== 'presence' && type !== 'liveState')).toEqual([])
    answer()
    expect(await Promise.all([first, second])).toMatchObject([{ type: 'done' }, { type: 'done' }])
    const list = await storedLiveStates(server, slow)
    expect(list).toMatchObject([{ liveStateDataId: 'a', data: { n: 2 } }])
  })
})

test('[R13.6] [S1] a document that another transaction has locked delays no live state of another document, and its own are stored in order afterwards', async () => {
  const { server, tenant, block, blocked } = await withPostgres()
  const other = await given.tenant(server)
  const [ada, bob] = [
    await RealtimeSocket.connect(server, await tokenFor(tenant)),
    await RealtimeSocket.connect(server, await tokenFor(other, 'bob')),
  ]
  await ada.open()
  await ada.open('doc_2', { ref: 2 })
  await bob.open()
  // Locks the row as a call that adds an annotation does.
  const unblock = await block(
    `select * from documents where api_key = '${tenant.apiKey}' and document_id = 'doc_1' for no key update`,
  )
  const first = ada.set('a', { one: 1 }, { merge: true })
  await eventually(blocked).toHaveLength(1)
  // Larger than what is merged in the transaction.
  const second = ada.set('a', { two: 2, filling: 'x'.repeat(40_000) }, { merge: true })
  const third = ada.set('a', { one: 3 }, { merge: true })
  for (let n = 1; n <= 3; n++) {
    expect(await bob.set('a', { n })).toMatchObject({ type: 'done' })
    expect(await ada.set('a', { n }, { ref: 2 })).toMatchObject({ type: 'done', position: { seq: n } })
  }
  // The server waits for the lock in one transaction.
  expect(await blocked()).toHaveLength(1)
  await unblock()
  const answers = await Promise.all([first, second, third])
  expect(answers.map(({ type }) => type)).toEqual(['done', 'done', 'done'])
  const list = await storedLiveStates(server, tenant)
  expect(list).toMatchObject([{ data: { one: 3, two: 2 } }])
})

test('[R13] a live state is refused when its document turns out to be deleted', async () => {
  const { server, tenant, block, blocked } = await withPostgres()
  const ada = await RealtimeSocket.connect(server, await tokenFor(tenant))
  await ada.open()
  const end = await block(`delete from documents where api_key = '${tenant.apiKey}'`)
  const setting = ada.set('a', { one: 1 })
  await eventually(blocked).toHaveLength(1)
  await end('commit')
  expect(await setting).toMatchObject({ type: 'error', status: 'NOT_FOUND' })
})
