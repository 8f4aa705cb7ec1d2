import { ApiError, type NotificationUser } from '@plenum/protocol'
import { decide } from '../access/permissions.ts'
import { loadSubjects } from '../access/subjects.ts'
import type { ApiKey } from '../store/api-keys.ts'
import type { Db } from '../store/db.ts'
import * as configs from '../store/notification-configs.ts'
import type { NewRecipient, Recipient } from '../store/notification-recipients.ts'
import * as recipients from '../store/notification-recipients.ts'

export interface Audience {
  organizationId: string
  documentId: string
  notifyUsers: readonly NotificationUser[]
  notifyAll: boolean
  /** Leaves out who may not read the document. */
  verifyUserPermissions: boolean
}

/** Members who are looked at together: an organization may have very many. */
const membersTogether = 500

/** Those whom the caller named and, with `notifyAll`, all users of the organization; each one once, some at a time. */
export async function* findRecipients(
  db: Db,
  caller: ApiKey,
  audience: Audience,
  now: number,
): AsyncGenerator<NewRecipient[]> {
  const { organizationId, notifyUsers, notifyAll, verifyUserPermissions } = audience
  const wanted = async (among: readonly NewRecipient[]) => {
    const willing = await thoseWhoWantIt(db, caller.apiKey, audience, among)
    if (!verifyUserPermissions) return willing
    return willing.filter(await readersOf(db, caller, audience, willing, now))
  }
  const named = new Map<string, NewRecipient>()
  for (const one of await findNamed(db, caller.apiKey, notifyUsers)) {
    const key = keyOf(one)
    if (!named.has(key)) named.set(key, { ...one, named: true })
  }
  yield wanted([...named.values()])

  for (let after = '', found = notifyAll ? membersTogether : 0; found === membersTogether;) {
    const page = { after, limit: membersTogether }
    const userIds = await recipients.members(db, caller.apiKey, organizationId, now, page)
    found = userIds.length
    after = userIds.at(-1) ?? after
    const members = userIds.map((userId) => ({ userId, email: null, named: false }))
    yield wanted(members.filter((member) => !named.has(keyOf(member))))
  }
}

const keyOf = ({ userId, email }: Recipient) => JSON.stringify([userId === null, userId ?? email])

/** Tells who may read the document. An address that belongs to nobody has no grant, and enters what is public. */
export async function readersOf(
  db: Db,
  caller: ApiKey,
  { organizationId, documentId }: Pick<Audience, 'organizationId' | 'documentId'>,
  among: readonly Recipient[],
  now: number,
): Promise<(recipient: Recipient) => boolean> {
  const userIds = among.flatMap(({ userId }) => userId ?? [])
  const subjects = await loadSubjects(db, caller, organizationId, userIds, { documentIds: [documentId] })
  return ({ userId }) => {
    const subject = subjects?.document(userId ?? '', documentId)
    return subject !== undefined && decide(subject, now / 1000).allowed
  }
}

/** An address counts as the user who has it. */
async function findNamed(db: Db, apiKey: string, sent: readonly NotificationUser[]): Promise<Recipient[]> {
  const entries = sent.map(({ userId, email }, index) => {
    const address = email?.trim().toLowerCase() || null
    if (userId !== undefined) return { userId, email: address }
    if (address !== null) return { userId: null, email: address }
    throw new ApiError('INVALID_ARGUMENT', `notifyUsers[${index}] must have a userId or an email.`)
  })
  const known = await recipients.findUsers(db, apiKey, {
    userIds: entries.flatMap(({ userId }) => userId ?? []),
    emails: entries.flatMap(({ userId, email }) => (userId === null ? email : [])),
  })
  const emails = new Map(known.map(({ userId, email }) => [userId, email]))
  return entries.flatMap((entry): Recipient[] => {
    if (entry.userId !== null) return [{ ...entry, email: entry.email ?? emails.get(entry.userId) ?? null }]
    const owners = known.filter(({ email }) => email === entry.email)
    return owners.length > 0 ? owners : [entry]
  })
}

/** By the preference for the inbox (spec 18.6): what a user is named in involves them. */
async function thoseWhoWantIt(
  db: Db,
  apiKey: string,
  { organizationId, documentId }: Audience,
  among: readonly NewRecipient[],
): Promise<NewRecipient[]> {
  const userIds = among.flatMap(({ userId }) => userId ?? [])
  const choices = await configs.find(db, apiKey, organizationId, [documentId], userIds)
  return among.filter(({ userId, named }) => {
    const { inbox } = userId === null ? {} : choices.effective(userId, documentId)
    return inbox === 'MINE' ? named : inbox !== 'NONE'
  })
}
