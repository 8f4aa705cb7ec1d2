import type { RawClient, Refusal, Role, Told, Written } from '../clients/raw-client.ts'
import { type Dialect, RawRealtime, tellsRole } from '../clients/raw-clients.ts'
import { wordsIn, wordUpdate } from '../words.ts'

export type Verdict = Role | 'denied'

/** The results of one attempt of a client with every message. */
export interface Found {
  /** Its role if the dialect sends one, or the reason of its refusal. */
  standing: { role?: Role } | Refusal
  /** The words it read, without the words it wrote in this attempt; undefined if it may not read. */
  read: string[] | undefined
  update: Written
  syncStep2: Written
  awareness: Told
  /** Only for `/realtime`. */
  liveState?: Written
  presence?: Told
  versionAdded?: Written
  versionsListed?: Told
  /** The messages of its refusals. */
  why: string[]
}

/** The values that one attempt writes. */
export const markOf = (editorId: string, attempt: number) => ({
  update: `${editorId}.update.${attempt}`,
  syncStep2: `${editorId}.step.${attempt}`,
  awareness: `${editorId}.cursor.${attempt}`,
  liveState: `${editorId}.state.${attempt}`,
  version: `${attempt}`,
})

/** Sends one message of each kind without waiting, and all again if the client is refused. */
export async function probe(client: RawClient, editorId: string, attempt: number): Promise<Found> {
  client.denials.length = 0
  const trying = tryAll(client, editorId, attempt)
  const [[read, update, syncStep2, awareness, liveState, presence, versionAdded, versionsListed]] =
    await Promise.all([trying, client.entered()])
  if (client.refusal) {
    await tryAll(client, editorId, attempt)
    await client.arrived()
  }
  const role = client.roles.at(-1)
  const mark = markOf(editorId, attempt)
  // Accepted writes may be stored before the read is answered. Refused writes must not be in the answer.
  const saved = [update === 'saved' && mark.update, syncStep2 === 'saved' && mark.syncStep2]
  // Besides the refusal, each message to a closed document gets its own NOT_FOUND.
  const why = client.denials.filter((sentence) => !(client.refusal && sentence.startsWith('NOT_FOUND')))
  return {
    standing: client.refusal ?? (role ? { role } : {}),
    read: read === undefined ? undefined : wordsIn(read).filter((word) => !saved.includes(word)),
    update,
    syncStep2,
    awareness,
    ...(client instanceof RawRealtime && { liveState, presence, versionAdded, versionsListed }),
    why: [...new Set(why)].sort(),
  }
}

function tryAll(client: RawClient, editorId: string, attempt: number) {
  const mark = markOf(editorId, attempt)
  const own = client instanceof RawRealtime ? client : undefined
  return Promise.all([
    client.read(),
    client.update(wordUpdate(mark.update)),
    client.syncStep2(wordUpdate(mark.syncStep2)),
    client.awareness({ mark: mark.awareness }),
    own?.setLiveState(mark.liveState, { attempt }),
    own?.setPresence(mark.awareness),
    own?.addVersion(mark.version),
    own?.listVersions(),
  ])
}

const readOnly = 'The user may read this document, but not change it.'
const noGrant = 'The user may not open this document.'

/** The expected results of a client. */
export function expectedFind(
  dialect: Dialect,
  verdict: Verdict,
  { read, wasIn = false }: { read: string[]; wasIn?: boolean },
): Found {
  const isIn = verdict !== 'denied'
  const written = verdict === 'editor' ? 'saved' : 'refused'
  const told = isIn ? 'told' : 'refused'
  return {
    standing: isIn ? (tellsRole(dialect) ? { role: verdict } : {}) : refusalIn(dialect, 4403, noGrant),
    read: isIn ? read : undefined,
    update: written,
    syncStep2: written,
    awareness: told,
    ...(dialect === 'realtime' && {
      liveState: written,
      presence: told,
      versionAdded: written,
      versionsListed: told,
    }),
    why: [...(isIn ? sentences[dialect][verdict] : sentencesOfDenial(dialect, noGrant, wasIn))].sort(),
  }
}

const sentences: Record<Dialect, Record<Role, readonly string[]>> = {
  yjs: { editor: [], viewer: [] },
  'y-sweet': { editor: [], viewer: [] },
  hocuspocus: { editor: [], viewer: [] },
  realtime: { editor: [], viewer: [readOnly, `PERMISSION_DENIED: ${readOnly}`] },
}

/** The refusal as a client of that dialect receives it. */
export const refusalIn = (dialect: Dialect, code: number, reason: string): Refusal =>
  dialect === 'hocuspocus' ? { reason } : { code, reason }

/** The messages that come with the refusal. */
export function sentencesOfDenial(dialect: Dialect, reason: string, wasIn: boolean): string[] {
  if (dialect !== 'hocuspocus') return []
  return wasIn ? [reason, `Close: ${reason}`] : [reason]
}
