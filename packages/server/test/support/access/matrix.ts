import { expectedRole, type Held } from './oracle.ts'
import { expectedFind, markOf, probe, type Verdict } from './probe.ts'
import { type MatrixOptions, type Place, places, type Row, rowsOf, Tally, type User } from './rows.ts'
import { furnish, heldOf, siblingKey, spotOf, store, tokenWith } from './scenes.ts'
import * as given from '../given.ts'
import type { TestServer } from '../harness.ts'
import type { RawClient, Role } from '../clients/raw-client.ts'
import { rawClient } from '../clients/raw-clients.ts'
import { seed, Witness } from '../clients/witness.ts'
import { textIn, wordsIn } from '../words.ts'

const hour = 3_600

/** The state before the first client connects. */
interface Ground {
  server: TestServer
  rows: readonly Row[]
  tenants: Record<Place['key'], given.Tenant>
  tokenOf: (row: Row) => string | Promise<string>
  /** The decision of the oracle at that second. */
  verdictOf: (row: Row, at: number) => Verdict
  begunAt: number
  witnesses: ReadonlyMap<Place, Witness>
}

/** The clients that have access by a grant that expires during the test. */
type Inside = Map<Row, { client: RawClient; verdict: Role }>

/**
 * Opens every document as every user, and sends all messages before the first answer of the server. Then lets the
 * `passing` grants expire, and tries again with the clients that had access. Advances the server's clock by an hour.
 */
export async function runMatrix(server: TestServer, options: MatrixOptions): Promise<Tally> {
  const { type, definedBy } = options.scene
  const tally = new Tally(`${type} by ${definedBy}`)
  const ground = await prepare(server, options)
  const inside = await tryFirst(ground, tally)
  server.clock.offsetMs += hour * 1_000
  const later = secondsOf(server)
  await tryAgain(ground, inside, later, tally)
  await readBack(ground, inside, later, tally)
  return tally
}

const secondsOf = ({ clock }: TestServer) => Math.floor((Date.now() + clock.offsetMs) / 1_000)

async function prepare(server: TestServer, options: MatrixOptions): Promise<Ground> {
  const { scene } = options
  const own = await given.tenant(server)
  const tenants = { own, sibling: await siblingKey(server, own), foreign: await given.tenant(server) }
  await furnish(tenants.own, scene, ['o1', 'o2'])
  await furnish(tenants.sibling, scene, ['o1'])
  await furnish(tenants.foreign, scene, ['o1'])

  const begunAt = secondsOf(server)
  const ends = {
    none: undefined,
    future: begunAt + 24 * hour,
    past: begunAt - 60,
    passing: begunAt + hour / 2,
  }
  const heldBy = ({ source, resource, role, expiry }: User) =>
    heldOf(source, resource, { role, expiresAt: ends[expiry] })
  const rows = rowsOf(options)
  const users = [...new Map(rows.map(({ user }) => [user.userId, user])).values()]
  const tokens = await issue(server, own, users, heldBy)
  const witnesses = new Map(
    places.map((place) => {
      const editorIds = rows.filter((row) => row.place === place).map(({ editorId }) => editorId)
      return [place, new Witness(server, tenants[place.key], { ...place, editorIds })]
    }),
  )
  await Promise.all(Array.from(witnesses.values(), ({ ready }) => ready))
  return {
    server,
    rows,
    tenants,
    begunAt,
    witnesses,
    tokenOf: ({ user: { userId, resource }, place: { key } }) =>
      key === 'own' ? (tokens.get(userId) ?? '') : tokenWith(tenants[key], userId, resource, undefined),
    verdictOf: ({ user, place }, at) => {
      const isGranted = place.key === 'own' && place.organizationId === 'o1'
      return expectedRole(spotOf(scene, place.documentId), isGranted ? heldBy(user) : {}, at)
    },
  }
}

/** Stores the grants and issues the tokens, in the order that their source requires. */
async function issue(
  server: TestServer,
  tenant: given.Tenant,
  users: readonly User[],
  heldBy: (user: User) => Held,
): Promise<Map<string, string>> {
  const tokens = new Map<string, string>()
  const storeGrants = (isLate: boolean) =>
    inParallel(users, 16, async (user) => {
      const { userId, resource, source, expiry } = user
      const { stored } = heldBy(user)
      if (!stored || isLate !== (source === 'stored over token')) return
      // Add Users renews an expired grant, so expired grants are stored by Add Permissions.
      const by = source === 'users' && expiry !== 'past' ? 'users' : 'permissions'
      await store(tenant, userId, resource, stored, by)
    })
  // Later grants must be newer also in milliseconds.
  await storeGrants(false)
  server.clock.offsetMs += 10
  await inParallel(users, 16, async (user) => {
    const { userId, resource } = user
    tokens.set(userId, await tokenWith(tenant, userId, resource, heldBy(user).token))
  })
  server.clock.offsetMs += 10
  await storeGrants(true)
  return tokens
}

async function tryFirst(ground: Ground, tally: Tally): Promise<Inside> {
  const { server, rows, tokenOf, verdictOf, begunAt, witnesses } = ground
  const inside: Inside = new Map()
  await inParallel(rows, 64, async (row) => {
    const { user, place, editorId } = row
    const verdict = verdictOf(row, begunAt)
    const client = rawClient(server, user.dialect, { ...place, editorId, token: await tokenOf(row) })
    const found = await probe(client, editorId, 1)
    tally.compare(row, 1, found, expectedFind(user.dialect, verdict, { read: [seed] }))
    // The presence of a client that leaves too soon is not broadcast.
    if (verdict !== 'denied')
      tally.check(row, 'is present', await witnesses.get(place)?.sees(user.userId), true)
    if (verdict !== 'denied' && user.expiry === 'passing') inside.set(row, { client, verdict })
    else client.close()
  })
  return inside
}

async function tryAgain({ verdictOf }: Ground, inside: Inside, later: number, tally: Tally): Promise<void> {
  await inParallel([...inside], inside.size, async ([row, { client, verdict }]) => {
    const found = await probe(client, row.editorId, 2)
    const read = wordsOf(row, [verdict])
    const expected = expectedFind(row.user.dialect, verdictOf(row, later), { read, wasIn: true })
    tally.compare(row, 2, found, expected)
    client.close()
  })
}

/** Checks what is stored and what was broadcast to others. */
async function readBack(ground: Ground, inside: Inside, later: number, tally: Tally): Promise<void> {
  const { rows, tenants, verdictOf, begunAt, witnesses } = ground
  for (const [place, witness] of witnesses) {
    const { key, organizationId, documentId } = place
    const { data } = await tenants[key].client.crdt.get({ organizationId, documentId })
    const texts = new Map(data.map((editor) => [editor.id, textIn(editor)]))
    await witness.caughtUp()
    for (const row of rows.filter((candidate) => candidate.place === place)) {
      const { editorId, user } = row
      const verdicts = [verdictOf(row, begunAt), ...(inside.has(row) ? [verdictOf(row, later)] : [])]
      tally.check(row, 'is stored', wordsIn(texts.get(editorId) ?? ''), wordsOf(row, verdicts))
      tally.check(row, 'is broadcast to others', witness.words(editorId), wordsOf(row, verdicts))
      if (verdicts[0] === 'denied') tally.check(row, 'is present', witness.present.has(user.userId), false)
      for (const [index, verdict] of verdicts.entries()) {
        const mark = markOf(editorId, index + 1)
        const isBroadcast = witness.hasHeard(editorId, mark.awareness)
        tally.check(row, 'awareness is broadcast to others', isBroadcast, verdict !== 'denied')
        if (user.dialect !== 'realtime') continue
        tally.check(row, 'sets live state', witness.liveStates.has(mark.liveState), verdict === 'editor')
      }
    }
    witness.close()
  }
}

/** The words in the editor of the row after these attempts. */
function wordsOf({ editorId }: Row, verdicts: readonly Verdict[]): string[] {
  const written = verdicts.flatMap((verdict, index) => {
    const { update, syncStep2 } = markOf(editorId, index + 1)
    return verdict === 'editor' ? [update, syncStep2] : []
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
