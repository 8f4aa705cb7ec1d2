import { ApiError, type NotificationUser } from '@plenum/protocol'
import { decide } from '../../access/permissions.ts'
import type { ProviderAnswers } from '../../access/provider/permission-provider.ts'
import { withProvider } from '../../access/provider/with-provider.ts'
import { loadSubjects } from '../../access/subjects.ts'
import type { ApiKey } from '../../store/api-keys.ts'
import type { Db } from '../../store/engine/db.ts'
import * as configs from '../../store/notifications/configs.ts'
import type { NewRecipient, Recipient } from '../../store/notifications/recipients.ts'
import * as recipients from '../../store/notifications/recipients.ts'
import type { DocumentRef } from '../../store/refs.ts'

/** Whom a notification about a document is for. */
export interface RecipientSelection extends DocumentRef {
  notifyUsers: readonly NotificationUser[]
  notifyAll: boolean
  /** Leaves out users who may not read the document. */
  verifyUserPermissions: boolean
}

/** Members in one query: an organization may have very many. */
const membersPerPage = 200
/** The maximum of members, and of users with the named email addresses, in one transaction: each about 15 ms on SQLite. */
const maxPerTransaction = 500

/** What `findRecipients` needs besides the selection. */
export interface RecipientSearch {
  db: Db
  caller: ApiKey
  now: number
  /** Gives `work` the answers of the permission provider. Runs it again if it needs more of them. */
  check: <T>(work: (answers: ProviderAnswers | undefined) => Promise<T>) => Promise<T>
  /** The channel whose preferences apply. Default: the inbox. */
  channel?: 'inbox' | 'email'
  /** Returns those who are notified. Default: all. */
  accept?: (among: readonly NewRecipient[]) => Promise<NewRecipient[]>
}

/** Whether the notification may have too many recipients for one transaction. */
export async function mayExceedTransaction(
  db: Db,
  apiKey: string,
  { organizationId, notifyUsers, notifyAll }: RecipientSelection,
  now: number,
): Promise<boolean> {
  const emails = notifyUsers.flatMap(({ userId, email }) => (userId === undefined ? addressOf(email) : []))
  if (
    await recipients.haveMoreUsersThan(
      db,
      apiKey,
      emails.filter((email) => email !== null),
      maxPerTransaction,
    )
  )
    return true
  const page = { after: '', limit: maxPerTransaction + 1 }
  return (
    notifyAll &&
    (await recipients.listMembers(db, apiKey, organizationId, now, page)).length > maxPerTransaction
  )
}

const addressOf = (email: string | undefined) => email?.trim().toLowerCase() || null

/**
 * Yields the users and email addresses that the caller named and, with `notifyAll`, all members of the organization: each
 * once, in slices. Leaves out users who do not want the notification and, with `verifyUserPermissions`, recipients who may
 * not read the document.
 */
export async function* findRecipients(
  search: RecipientSearch,
  selection: RecipientSelection,
): AsyncGenerator<NewRecipient[]> {
  const { db, caller, now } = search
  const { organizationId, notifyUsers, notifyAll } = selection
  const wanted = (among: readonly NewRecipient[]) => filterRecipients(search, selection, among)
  const named = new Set<string>()
  for await (const some of findNamed(db, caller.apiKey, notifyUsers)) {
    const others = some.filter((one) => !named.has(keyOf(one)))
    for (const one of others) named.add(keyOf(one))
    yield wanted(others.map((one) => ({ ...one, named: true })))
  }

  for (let after = '', found = notifyAll ? membersPerPage : 0; found === membersPerPage;) {
    const page = { after, limit: membersPerPage }
    const userIds = await recipients.listMembers(db, caller.apiKey, organizationId, now, page)
    found = userIds.length
    after = userIds.at(-1) ?? after
    const members = userIds.map((userId) => ({ userId, email: null, named: false }))
    yield wanted(members.filter((member) => !named.has(keyOf(member))))
  }
}

/** Those who want the notification, are accepted and, with `verifyUserPermissions`, may read the document. */
export async function filterRecipients(
  { db, caller, now, check, channel = 'inbox', accept = async (among) => [...among] }: RecipientSearch,
  selection: RecipientSelection,
  among: readonly NewRecipient[],
): Promise<NewRecipient[]> {
  const willing = await accept(await filterByPreference(db, caller.apiKey, selection, channel, among))
  if (!selection.verifyUserPermissions) return willing
  return check(async (answers) =>
    willing.filter(await readersOf(db, caller, selection, willing, now, answers)),
  )
}

const keyOf = ({ userId, email }: Recipient) => JSON.stringify([userId === null, userId ?? email])

/**
 * Returns a check whether a recipient may read the document. An email address without a user has no grant, so it may read
 * public documents only, and none if the permission provider decides.
 */
export async function readersOf(
  db: Db,
  caller: ApiKey,
  { organizationId, documentId }: DocumentRef,
  among: readonly Recipient[],
  now: number,
  answers: ProviderAnswers | undefined,
): Promise<(recipient: Recipient) => boolean> {
  const userIds = among.flatMap(({ userId }) => userId ?? [])
  const subjects = await loadSubjects(db, caller, organizationId, userIds, { documentIds: [documentId] })
  const parentFolderId = subjects?.folderOf(documentId) ?? null
  const about = {
    organizationId,
    type: 'document',
    id: documentId,
    source: 'setNotifications',
    parentFolderId,
  } as const
  return ({ userId }) => {
    if (userId === null && answers) return false
    const subject = subjects?.document(userId ?? '', documentId)
    if (!subject) return false
    return decide(withProvider(subject, answers, { userId: userId ?? '', ...about }), now / 1000).allowed
  }
}

/**
 * Yields the recipients whom the caller named. An email address stands for all users who have it, or for itself if no user
 * has it.
 */
async function* findNamed(
  db: Db,
  apiKey: string,
  sent: readonly NotificationUser[],
): AsyncGenerator<Recipient[]> {
  const emails = new Map<string, string | null>()
  const addresses = new Set<string>()
  for (const [index, { userId, email }] of sent.entries()) {
    const address = addressOf(email)
    if (userId !== undefined) emails.set(userId, emails.get(userId) ?? address)
    else if (address !== null) addresses.add(address)
    else throw new ApiError('INVALID_ARGUMENT', `notifyUsers[${index}] must have a userId or an email.`)
  }
  for (const { userId, email } of await recipients.findUsers(db, apiKey, [...emails.keys()])) {
    emails.set(userId, emails.get(userId) ?? email)
  }
  yield [...emails].map(([userId, email]) => ({ userId, email }))

  const ownerless = new Set(addresses)
  for await (const owners of recipients.findByEmail(db, apiKey, [...addresses])) {
    for (const { email } of owners) if (email !== null) ownerless.delete(email)
    yield owners
  }
  yield [...ownerless].map((email) => ({ userId: null, email }))
}

/** The recipients whose preference allows the notification (spec 18.6). `MINE` allows those that name the user. */
async function filterByPreference(
  db: Db,
  apiKey: string,
  { organizationId, documentId }: RecipientSelection,
  channel: 'inbox' | 'email',
  among: readonly NewRecipient[],
): Promise<NewRecipient[]> {
  const userIds = among.flatMap(({ userId }) => userId ?? [])
  const choices = await configs.find(db, apiKey, organizationId, [documentId], userIds)
  return among.filter(({ userId, named }) => {
    const preference = userId === null ? undefined : choices.effective(userId, documentId)[channel]
    return preference === 'MINE' ? named : preference !== 'NONE'
  })
}
