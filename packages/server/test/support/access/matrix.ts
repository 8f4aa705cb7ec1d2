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

/** All that stands before the first client comes. */
interface Ground {
  server: TestServer
  rows: readonly Row[]
  tenants: Record<Place['key'], given.Tenant>
  tokenOf: (row: Row) => string | Promise<string>
  /** What the rules say, at that second. */
  verdictOf: (row: Row, at: number) => Verdict
  begunAt: number
  witnesses: ReadonlyMap<Place, Witness>
}

/** Those who were let in by a grant that passes. */
type Inside = Map<Row, { client: RawClient; verdict: Role }>

/**
 * Opens every document as every user, all messages on their way before the server has said a word; then lets the passing
 * grants pass, and tries again as those who were in. The server's clock is an hour ahead afterwards.
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

/** Stores the grants and issues the tokens, in the order that their source says. */
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
      // Add Users lets in anew whose time is over.
      const by = source === 'users' && expiry !== 'past' ? 'users' : 'permissions'
      await store(tenant, userId, resource, stored, by)
    })
  // What comes later is newer, also by a clock of milliseconds.
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
    // Who leaves too soon is not told of.
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

/** What is stored, and what others were told. */
async function readBack(ground: Ground, inside: Inside, later: number, tally: Tally): Promise<void> {
  const { rows, tenants, verdictOf, begunAt, witnesses } = ground
  for (const [place, witness] of witnesses) {
    const { key, organizationId, documentId } = place
    const { data } = await tenants[key].client.crdt.get({ organizationId, documentId })
    const texts = new Map(data.map((editor) => [editor.id, textIn(editor)]))
    await witness.caughtUp()
    for (const row of rows.filter((one) => one.place === place)) {
      const { editorId, user } = row
      const verdicts = [verdictOf(row, begunAt), ...(inside.has(row) ? [verdictOf(row, later)] : [])]
      tally.check(row, 'is stored', wordsIn(texts.get(editorId) ?? ''), wordsOf(row, verdicts))
      tally.check(row, 'is told to others', witness.words(editorId), wordsOf(row, verdicts))
      if (verdicts[0] === 'denied') tally.check(row, 'is present', witness.present.has(user.userId), false)
      for (const [index, verdict] of verdicts.entries()) {
        const mark = markOf(editorId, index + 1)
        const isHeard = witness.hasHeard(editorId, mark.awareness)
        tally.check(row, 'is heard by others', isHeard, verdict !== 'denied')
        if (user.dialect !== 'realtime') continue
        tally.check(row, 'sets live state', witness.liveStates.has(mark.liveState), verdict === 'editor')
      }
    }
    witness.close()
  }
}

/** What the editor of the row holds after these attempts. */
function wordsOf({ editorId }: Row, verdicts: readonly Verdict[]): string[] {
  const written = verdicts.flatMap((verdict, index) => {
    const { update, syncStep2 } = markOf(editorId, index + 1)
    return verdict === 'editor' ? [update, syncStep2] : []
  })
  return [seed, ...written].sort()
}

async function inParallel<T>(
  items: readonly T[],
  most: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const queue = items.values()
  await Promise.all(
    Array.from({ length: Math.min(most, items.length) }, async () => {
      for (const item of queue) await work(item)
    }),
  )
}
