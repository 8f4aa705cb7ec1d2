import { createDecoder, readVarString, readVarUint8Array } from 'lib0/decoding'
import { encode, writeVarString, writeVarUint8Array } from 'lib0/encoding'
import Type, { type Static } from 'typebox'
import type { SharedItem } from '../../../peers/list-messages.ts'
import type { ServerId } from '../../../peers/peers.ts'
import { BytePace } from '../../../platform/turns/byte-pace.ts'
import { createValidator } from '../../../platform/validation/validator.ts'
import type { AwarenessOwner, AwarenessState, AwarenessStates } from './awareness.ts'
import { readAwareness, writeAwareness } from './awareness-update.ts'

/** What servers send each other about a state, besides the state. Servers of other releases may send further fields. */
const Head = Type.Object({
  userId: Type.String(),
  email: Type.Optional(Type.String()),
  hasWriteRole: Type.Boolean(),
  /** The clock that the server broadcasts. */
  clock: Type.Integer({ minimum: 0, maximum: 2 ** 40 }),
})
const validate = createValidator(Head)

/** Limit of the states of each client. A cursor that moves thirty times a second takes about 10 KB a second. */
export const maxAwarenessBytesPerSecond = 32 * 1024

/** The age of the item is the age of the session. */
export function awarenessItemOf(clientId: number, state: AwarenessState): SharedItem {
  const { owner, ownClock, clock, json } = state
  const { userId, email, hasWriteRole } = owner
  const head: Static<typeof Head> = { userId, ...(email !== undefined && { email }), hasWriteRole, clock }
  const content = encode((encoder) => {
    writeVarString(encoder, JSON.stringify(head))
    writeVarUint8Array(encoder, writeAwareness([{ clientId, clock: ownClock, json }]))
  })
  return { content, age: performance.now() - owner.openedAt }
}

/** Adds a state of another server. Throws if the item is malformed. */
export function addAwarenessItem(
  states: AwarenessStates,
  server: ServerId,
  clientId: number,
  { content, age }: SharedItem,
): void {
  const decoder = createDecoder(content)
  const head = JSON.parse(readVarString(decoder)) as Static<typeof Head>
  const fault = validate(head)
  if (fault !== undefined) throw new Error(fault)
  const entries = readAwareness(readVarUint8Array(decoder), (id) => id === clientId)
  const [entry] = typeof entries === 'string' ? [] : entries
  if (!entry) throw new Error('The awareness state cannot be read.')
  const owner: AwarenessOwner = {
    ...sessionOf(server, clientId),
    userId: head.userId,
    email: head.email,
    hasWriteRole: head.hasWriteRole,
    openedAt: performance.now() - age,
    pace: states.paceOf(clientId, server) ?? new BytePace(maxAwarenessBytesPerSecond),
    // The server of the session has reserved the memory that the connection may use.
    tryReserve: () => true,
  }
  states.receiveFromServer(owner, entry, head.clock)
}

/** The session of another server that has set the state of the Yjs client id. */
export const sessionOf = (server: ServerId, clientId: number) => ({
  server,
  sessionId: `${server} ${clientId}`,
})
