import Type, { type Static } from 'typebox'
import type { ServerId } from '../../peers/peers.ts'
import type { SharedItem } from '../../peers/list-messages.ts'
import { createValidator } from '../../platform/validation/validator.ts'
import {
  bestStatusOf,
  latestOf,
  type PresentClient,
  type PresentPerson,
  seqOfOtherServer,
} from './present-person.ts'

/** What servers send each other about the clients of a user. Servers of other releases may send further fields. */
const Content = Type.Object({
  name: Type.Optional(Type.String()),
  email: Type.Optional(Type.String()),
  look: Type.Object({ photoUrl: Type.Optional(Type.String()), color: Type.String() }),
  status: Type.Enum(['online', 'away', 'offline']),
  /** JSON of an object. */
  data: Type.Optional(Type.String()),
  hasWriteRole: Type.Boolean(),
  /** See `PresentPerson.isOverridden`. */
  isOverridden: Type.Boolean(),
  /** See `PresentPerson`. */
  activity: Type.Number(),
  /** See `ShownEntry`. Missing if the entry does not come from these clients. */
  changedAt: Type.Optional(Type.Number()),
})
const validate = createValidator(Content)

/** Describes all clients of a user on this server as one, if there are any. */
export function presenceItemOf(person: PresentPerson, now: number): SharedItem | undefined {
  const clients = person.ownClients
  const latest = latestOf(clients)
  if (!latest) return undefined
  const { name, email, look } = latest.holder.identity
  const { shown } = person
  const content: Static<typeof Content> = {
    ...(name !== undefined && { name }),
    ...(email !== undefined && { email }),
    look,
    status: bestStatusOf(clients, now),
    ...(latest.data !== undefined && { data: latest.data }),
    hasWriteRole: clients.some(({ holder }) => holder.hasWriteRole),
    isOverridden: person.isOverridden(clients),
    activity: person.activity,
    ...(shown?.sourceClient === latest && { changedAt: shown.changedAt }),
  }
  return { content: Buffer.from(JSON.stringify(content)), age: 0 }
}

/** Throws if the item is malformed. */
export function clientOfItem(
  server: ServerId,
  person: PresentPerson,
  { content }: SharedItem,
): PresentClient {
  const fields = JSON.parse(Buffer.from(content).toString()) as Static<typeof Content>
  const fault = validate(fields)
  if (fault !== undefined) throw new Error(fault)
  const { name, email, look, hasWriteRole, status, data, activity, changedAt } = fields
  return {
    person,
    server,
    activity,
    changedAt,
    holder: { identity: { userId: person.userId, name, email, look }, hasWriteRole },
    reportsIdleness: true,
    status,
    data,
    activeSeq: 0,
    activeAt: 0,
    seenSeq: seqOfOtherServer(fields.isOverridden),
    seenAt: 0,
  }
}
