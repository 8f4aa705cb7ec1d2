import { expectedRole, type UserGrants } from './oracle.ts'
import { expectedResult, markOf, probe, type Access } from './probe.ts'
import { type MatrixOptions, type Location, locations, type Row, rowsOf, Tally, type User } from './rows.ts'
import {
  createFoldersAndDocuments,
  documentIds,
  grantsOf,
  siblingKey,
  levelsOf,
  store,
  tokenWith,
} from './scenes.ts'
import * as given from '../given.ts'
import type { TestServer } from '../harness.ts'
import type { RawClient, Role } from '../clients/raw-client.ts'
import { rawClient } from '../clients/raw-clients.ts'
import { seed, Observer } from '../clients/observer.ts'
import { textIn, wordsIn } from '../random/words.ts'

const hour = 3_600

/** The state before the first user connects. Observers are connected already. */
interface Prepared {
  server: TestServer
  rows: readonly Row[]
  tenants: Record<Location['key'], given.Tenant>
  tokenOf: (row: Row) => string | Promise<string>
  /** The access that the oracle expects at the time `at`, in Unix seconds. */
  accessOf: (row: Row, at: number) => Access
  begunAt: number
  observers: ReadonlyMap<Location, Observer>
}

/** The clients whose grant expires during the test, with their access before it expires. */
type OpenClients = Map<Row, { client: RawClient; access: Role }>

/**
 * Opens the document of each row as its user, and sends all messages before the first answer of the server. Then lets the
 * `passing` grants expire, and tries again with those of their clients that had access. Advances the server's clock by an
 * hour.
 */
export async function runMatrix(server: TestServer, options: MatrixOptions): Promise<Tally> {
  const { type, definedBy } = options.scene
  const tally = new Tally(`${type} by ${definedBy}`)
  const prepared = await prepare(server, options)
  const openClients = await tryFirst(prepared, tally)
  server.clock.offsetMs += hour * 1_000
  const later = secondsOf(server)
  await tryAgain(prepared, openClients, later, tally)
  await readBack(prepared, openClients, later, tally)
  return tally
}

const secondsOf = ({ clock }: TestServer) => Math.floor((Date.now() + clock.offsetMs) / 1_000)

async function prepare(server: TestServer, options: MatrixOptions): Promise<Prepared> {
  const { scene } = options
  const own = await given.tenant(server)
  const tenants = { own, sibling: await siblingKey(server, own), foreign: await given.tenant(server) }
  // `locations` has only this document where nothing is granted.
  const elsewhere = ['deep'] as const
  await createFoldersAndDocuments(tenants.own, scene, { o1: documentIds, o2: elsewhere })
  await createFoldersAndDocuments(tenants.sibling, scene, { o1: elsewhere })
  await createFoldersAndDocuments(tenants.foreign, scene, { o1: elsewhere })

  const begunAt = secondsOf(server)
  const ends = {
    none: undefined,
    future: begunAt + 24 * hour,
    past: begunAt - 60,
    passing: begunAt + hour / 2,
  }
  const grantsOfUser = ({ source, resource, role, expiry }: User) =>
    grantsOf(source, resource, { role, expiresAt: ends[expiry] })
  const rows = rowsOf(options)
  const users = [...new Map(rows.map(({ user }) => [user.userId, user])).values()]
  const tokens = await issue(server, own, users, grantsOfUser)
  const observers = new Map(
    locations.map((location) => {
      const editorIds = rows.filter((row) => row.location === location).map(({ editorId }) => editorId)
      return [location, new Observer(server, tenants[location.key], { ...location, editorIds })]
    }),
  )
  await Promise.all(Array.from(observers.values(), ({ ready }) => ready))
  return {
    server,
    rows,
    tenants,
    begunAt,
    observers,
    tokenOf: ({ user: { userId, resource }, location: { key } }) =>
      key === 'own' ? (tokens.get(userId) ?? '') : tokenWith(tenants[key], userId, resource, undefined),
    accessOf: ({ user, location }, at) => {
      const isGranted = location.key === 'own' && location.organizationId === 'o1'
      return expectedRole(levelsOf(scene, location.documentId), isGranted ? grantsOfUser(user) : {}, at)
    },
  }
}

/** Stores the grants and issues the tokens, in the order that their source requires. */
async function issue(
  server: TestServer,
  tenant: given.Tenant,
  users: readonly User[],
  grantsOfUser: (user: User) => UserGrants,
): Promise<Map<string, string>> {
  const tokens = new Map<string, string>()
  const storeGrants = (isLate: boolean) =>
    inParallel(users, 16, async (user) => {
      const { userId, resource, source, expiry } = user
      const { stored } = grantsOfUser(user)
      if (!stored || isLate !== (source === 'stored over token')) return
      // Add Users renews an expired grant, so expired grants are stored by Add Permissions.
      const by = source === 'users' && expiry !== 'past' ? 'users' : 'permissions'
      await store(tenant, userId, resource, stored, by)
    })
  // Later grants must be at least a millisecond newer.
  await storeGrants(false)
  server.clock.offsetMs += 10
  await inParallel(users, 16, async (user) => {
    const { userId, resource } = user
    tokens.set(userId, await tokenWith(tenant, userId, resource, grantsOfUser(user).token))
  })
  server.clock.offsetMs += 10
  await storeGrants(true)
  return tokens
}

async function tryFirst(prepared: Prepared, tally: Tally): Promise<OpenClients> {
  const { server, rows, tokenOf, accessOf, begunAt, observers } = prepared
  const openClients: OpenClients = new Map()
  await inParallel(rows, 64, async (row) => {
    const { user, location, editorId } = row
    const access = accessOf(row, begunAt)
    const client = rawClient(server, user.dialect, { ...location, editorId, token: await tokenOf(row) })
    const found = await probe(client, editorId, 1)
    tally.compare(row, 1, found, expectedResult(user.dialect, access, { read: [seed] }))
    // Waits here, because the presence and the awareness of a client that leaves too soon are not broadcast.
    if (access !== 'denied') {
      tally.check(row, 'is present', await observers.get(location)?.sees(user.userId), true)
      await observers.get(location)?.receives(editorId, markOf(editorId, 1).awareness)
    }
    if (access !== 'denied' && user.expiry === 'passing') openClients.set(row, { client, access })
    else client.terminate()
  })
  return openClients
}

async function tryAgain(
  { accessOf, observers }: Prepared,
  openClients: OpenClients,
  later: number,
  tally: Tally,
): Promise<void> {
  await inParallel([...openClients], openClients.size, async ([row, { client, access }]) => {
    const found = await probe(client, row.editorId, 2)
    const read = wordsOf(row, [access])
    const expected = expectedResult(row.user.dialect, accessOf(row, later), { read, wasOpen: true })
    tally.compare(row, 2, found, expected)
    if (accessOf(row, later) !== 'denied')
      await observers.get(row.location)?.receives(row.editorId, markOf(row.editorId, 2).awareness)
    client.terminate()
  })
}

/** Checks what is stored and what was broadcast to others. */
async function readBack(
  prepared: Prepared,
  openClients: OpenClients,
  later: number,
  tally: Tally,
): Promise<void> {
  const { rows, tenants, accessOf, begunAt, observers } = prepared
  for (const [location, observer] of observers) {
    const { key, organizationId, documentId } = location
    const { data } = await tenants[key].client.crdt.get({ organizationId, documentId })
    const texts = new Map(data.map((editor) => [editor.id, textIn(editor)]))
    await observer.settled()
    const here = rows.filter((candidate) => candidate.location === location)
    const accessesOf = (row: Row) => [
      accessOf(row, begunAt),
      ...(openClients.has(row) ? [accessOf(row, later)] : []),
    ]
    for (const row of here) {
      const { editorId, user } = row
      const accesses = accessesOf(row)
      tally.check(row, 'is stored', wordsIn(texts.get(editorId) ?? ''), wordsOf(row, accesses))
      tally.check(row, 'is broadcast to others', observer.words(editorId), wordsOf(row, accesses))
      if (accesses[0] === 'denied') tally.check(row, 'is present', observer.present.has(user.userId), false)
      for (const [index, access] of accesses.entries()) {
        const mark = markOf(editorId, index + 1)
        const isBroadcast = observer.hasReceived(editorId, mark.awareness)
        tally.check(row, 'awareness is broadcast to others', isBroadcast, access !== 'denied')
        if (user.dialect !== 'realtime') continue
        tally.check(row, 'sets live state', observer.liveStates.has(mark.liveState), access === 'editor')
      }
    }
    observer.terminate()
  }
}

/** The words in the editor of the row after attempts with these accesses. */
function wordsOf({ editorId }: Row, accesses: readonly Access[]): string[] {
  const written = accesses.flatMap((access, index) => {
    const { update, syncStep2 } = markOf(editorId, index + 1)
    return access === 'editor' ? [update, syncStep2] : []
  })
  return [seed, ...written].sort()
}

async function inParallel<T>(
  items: readonly T[],
  maxConcurrent: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const queue = items.values()
  await Promise.all(
    Array.from({ length: Math.min(maxConcurrent, items.length) }, async () => {
      for (const item of queue) await work(item)
    }),
  )
}
