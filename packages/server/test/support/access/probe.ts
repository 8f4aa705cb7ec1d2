import type { AwarenessOutcome, Ending, RawClient, Role, WriteOutcome } from '../clients/raw-client.ts'
import { type Dialect, sendsRole } from '../clients/raw-clients.ts'
import { RawRealtime } from '../clients/raw-realtime.ts'
import { wordsIn, wordUpdate } from '../random/words.ts'

export type Access = Role | 'denied'

/** The results of one attempt: a client that sends one message of each kind. */
export interface ProbeResult {
  /** The role if the dialect sends one, or how the session ended. */
  roleOrEnding: { role?: Role } | Ending
  /** The words that the client read, without those that it wrote in this attempt; undefined if it may not read. */
  read: string[] | undefined
  update: WriteOutcome
  syncStep2: WriteOutcome
  awareness: AwarenessOutcome
  /** Only for `/realtime`. */
  liveState?: WriteOutcome
  presence?: AwarenessOutcome
  versionAdded?: WriteOutcome
  versionsListed?: 'listed' | 'refused'
  /** The texts of all messages with which the server refused something. */
  refusalTexts: string[]
}

/** The values that one attempt writes: different in each editor and attempt. */
export const markOf = (editorId: string, attempt: number) => ({
  update: `${editorId}.update.${attempt}`,
  syncStep2: `${editorId}.step.${attempt}`,
  awareness: `${editorId}.cursor.${attempt}`,
  liveState: `${editorId}.state.${attempt}`,
  version: `${attempt}`,
})

/** Sends one message of each kind without waiting for answers, and all again if the session ends. */
export async function probe(client: RawClient, editorId: string, attempt: number): Promise<ProbeResult> {
  client.refusalTexts.length = 0
  const sending = sendAll(client, editorId, attempt)
  const [[read, update, syncStep2, awareness, liveState, presence, versionAdded, versionsListed]] =
    await Promise.all([sending, client.opened()])
  if (client.ending) {
    await sendAll(client, editorId, attempt)
    await client.flushed()
  }
  const role = client.roles.at(-1)
  const mark = markOf(editorId, attempt)
  // Accepted writes may be stored before the read is answered. Refused writes must not be in the answer.
  const saved = [update === 'saved' && mark.update, syncStep2 === 'saved' && mark.syncStep2]
  const { ending } = client
  const texts = ending ? client.refusalTexts.filter(isNoAnswer(ending.reason)) : client.refusalTexts
  return {
    roleOrEnding: client.ending ?? (role ? { role } : {}),
    read: read === undefined ? undefined : wordsIn(read).filter((word) => !saved.includes(word)),
    update,
    syncStep2,
    awareness,
    ...(client instanceof RawRealtime && { liveState, presence, versionAdded, versionsListed }),
    refusalTexts: [...new Set(texts)].sort(),
  }
}

function sendAll(client: RawClient, editorId: string, attempt: number) {
  const mark = markOf(editorId, attempt)
  const realtime = client instanceof RawRealtime ? client : undefined
  return Promise.all([
    client.read(),
    client.update(wordUpdate(mark.update)),
    client.syncStep2(wordUpdate(mark.syncStep2)),
    client.setAwareness({ mark: mark.awareness }),
    realtime?.setLiveState(mark.liveState, { attempt }),
    realtime?.setPresence(mark.awareness),
    realtime?.addVersion(mark.version),
    realtime?.listVersions(),
  ])
}

const readOnly = 'The user may read this document, but not change it.'
const noGrant = 'The user may not open this document.'

/** The results that a client with that access must get. */
export function expectedResult(
  dialect: Dialect,
  access: Access,
  { read, wasOpen = false }: { read: string[]; wasOpen?: boolean },
): ProbeResult {
  const isOpen = access !== 'denied'
  const written = access === 'editor' ? 'saved' : 'refused'
  const broadcast = isOpen ? 'broadcast' : 'refused'
  return {
    roleOrEnding: isOpen ? (sendsRole(dialect) ? { role: access } : {}) : endingIn(dialect, 4403, noGrant),
    read: isOpen ? read : undefined,
    update: written,
    syncStep2: written,
    awareness: broadcast,
    ...(dialect === 'realtime' && {
      liveState: written,
      presence: broadcast,
      versionAdded: written,
      versionsListed: isOpen ? 'listed' : 'refused',
    }),
    refusalTexts: [
      ...(isOpen ? textsByRole[dialect][access] : refusalTextsOf(dialect, noGrant, wasOpen)),
    ].sort(),
  }
}

const textsByRole: Record<Dialect, Record<Role, readonly string[]>> = {
  yjs: { editor: [], viewer: [] },
  'y-sweet': { editor: [], viewer: [] },
  hocuspocus: { editor: [], viewer: [] },
  realtime: { editor: [], viewer: [readOnly, `PERMISSION_DENIED: ${readOnly}`] },
}

/**
 * Besides the refusal, each message to a closed document gets its own NOT_FOUND, and a live state that waits for the document
 * gets the reason (R13.7).
 */
export const isNoAnswer = (reason: string) => (text: string) => {
  return text !== `PERMISSION_DENIED: ${reason}` && !text.startsWith('NOT_FOUND')
}

/** How the session of a refused client ends in that dialect. */
export const endingIn = (dialect: Dialect, code: number, reason: string): Ending =>
  dialect === 'hocuspocus' ? { reason } : { code, reason }

/** The texts with which a client is refused. `wasOpen`: the editor was open, and is closed. */
export function refusalTextsOf(dialect: Dialect, reason: string, wasOpen: boolean): string[] {
  if (dialect !== 'hocuspocus') return []
  return wasOpen ? [reason, `Close: ${reason}`] : [reason]
}
