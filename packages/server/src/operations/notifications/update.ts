import type { Input, Operations } from '@plenum/protocol'
import type { ProviderAnswers } from '../../access/provider/permission-provider.ts'
import type { Call, PreparedWrite } from '../../calls/call.ts'
import type { Cursor, Db } from '../../store/engine/db.ts'
import { stringifyData } from '../../store/engine/json.ts'
import type { Content, StoredNotification } from '../../store/notifications/lists.ts'
import * as lists from '../../store/notifications/lists.ts'
import * as recipients from '../../store/notifications/recipients.ts'
import * as notifications from '../../store/notifications/notifications.ts'
import { paceOf } from '../../store/engine/pace.ts'
import { isSmall } from '../../store/deletions/removal-size.ts'
import { denied, refuseFields } from '../shared/calling-user.ts'
import { byId, inLockOrder, outcomes, unique } from '../shared/batches.ts'
import { withoutNulls } from '../shared/without-nulls.ts'
import { filterOf } from './filters.ts'
import { requireOpen } from './open-organization.ts'
import { VisibleNotifications } from './visible.ts'
import { readersOf } from '../../events/inbox/recipients.ts'

type Update = Operations['notifications']['update']
type Change = Exclude<Input<Update>['notifications'], readonly unknown[]>
type Changes = readonly [id: string, change: Change][]

/** Limits for one transaction: about 20 ms on SQLite. Verifying the recipients of a notification takes about 1 ms. */
const maxPerTransaction = { changes: 100, readers: 2000, verified: 20 }
/** Notifications that one statement reads. Each may have 16 KiB. */
const notificationsPerQuery = 20
/** Recipients that are verified without a pause: about 3 ms on SQLite. */
const recipientsPerPage = 200

/** Where the next transaction continues. */
interface Position {
  /** The index of the change to continue with. */
  change: number
  /** Set if that change is made, but the recipients of its notification after `after` are not verified yet. */
  verifying?: { key: string; documentId: string; after: Cursor | undefined }
}

/**
 * Many changes are made in several short transactions, so that other writes run in between. Each notification is changed in
 * one of them; its recipients may be verified in several. If the server dies, the caller gets no answer and may send the
 * same call again.
 */
export const updateNotifications: PreparedWrite<Update> = {
  async prepare(call): Promise<Prepared> {
    const {
      input,
      caller,
      db,
      services: { writeStep, permissionProvider },
    } = call
    checkUser(call)
    await requireOpen(call, input.organizationId)
    const hidden = await findHidden(call)
    const changes = changesOf(input, hidden)
    if (!(await mayExceedTransaction(db, call, changes))) return { hidden }
    await checkSizes(db, call, changes)
    const updated = new Set<string>()
    for (let next: Position | undefined = { change: 0 }; next;) {
      const from: Position = next
      const some: string[] = []
      const answers = permissionProvider.answersFor(caller)
      next = await askingProvider(answers, () =>
        writeStep((step) => {
          some.length = 0
          return updateSome(step, call, changes, from, some, answers)
        }, caller.apiKey),
      )
      for (const id of some) updated.add(id)
    }
    return { hidden, updatedBefore: updated }
  },

  async write(call, { hidden, updatedBefore }: Prepared) {
    const changes = changesOf(call.input, hidden)
    const updated = new Set(updatedBefore)
    if (!updatedBefore) {
      const ids: string[] = []
      for (let next: Position | undefined = { change: 0 }; next;) {
        next = await updateSome(call.db, call, changes, next, ids, undefined)
      }
      for (const id of ids) updated.add(id)
    }
    call.signal({ kind: 'inbox', organizationId: call.input.organizationId, ...affectedUsers(call.input) })
    const sent = byId(listOf(call.input), ({ id }) => id)
    return outcomes(sent.keys(), (id) =>
      updated.has(id)
        ? { success: true, message: 'Notification updated.' }
        : { success: false, message: 'Failed to update notification.' },
    )
  },
}

/** The users whose inboxes the changes affect, if they are known: marking as read concerns the readers only. */
function affectedUsers(input: Input<Update>): { userIds?: string[] } {
  const changes = listOf(input)
  const isForAll = input.verifyUserPermissions || changes.some((change) => hasContent(change))
  return isForAll ? {} : { userIds: unique(changes.flatMap(({ readByUserIds = [] }) => readByUserIds)) }
}

/** What is known before the last transaction. */
interface Prepared {
  hidden: ReadonlySet<string>
  /** Set if all changes were made before. */
  updatedBefore?: ReadonlySet<string>
}

/** Thrown to roll back a transaction that needs answers of the permission provider. */
class Unanswered extends Error {}

/** Runs the transaction, and again with the answers of the provider that it needs. */
async function askingProvider<T>(
  answers: ProviderAnswers | undefined,
  transaction: () => Promise<T>,
): Promise<T> {
  for (;;) {
    try {
      return await transaction()
    } catch (error) {
      if (!(error instanceof Unanswered)) throw error
      await answers?.ask()
    }
  }
}

const listOf = ({ notifications }: Input<Update>): readonly Change[] =>
  Array.isArray(notifications) ? notifications : [notifications]

/** The changes, without those of notifications that do not exist for the caller. */
const changesOf = (input: Input<Update>, hidden: ReadonlySet<string>): Changes =>
  inLockOrder(byId(listOf(input), ({ id }) => id)).filter(([id]) => !hidden.has(id))

/** The ids of notifications that the calling user may not read any more (spec 18.2.1). */
async function findHidden(call: Call<Update>): Promise<ReadonlySet<string>> {
  const { user } = call.caller
  const hidden = new Set<string>()
  if (!user) return hidden
  const changes = changesOf(call.input, hidden)
  const allowed = new VisibleNotifications(call, user.userId)
  for (let start = 0; start < changes.length; start += notificationsPerQuery) {
    const found = await find(call.db, call, changes.slice(start, start + notificationsPerQuery))
    const rows = [...found.values()]
    const visible = new Set((await allowed.keep(rows)).map(({ id }) => id))
    for (const { id } of rows) if (!visible.has(id)) hidden.add(id)
  }
  return hidden
}

/** Whether the changes may be too many for one transaction. */
async function mayExceedTransaction(db: Db, call: Call<Update>, changes: Changes): Promise<boolean> {
  const readers = changes.reduce((sum, [, { readByUserIds = [] }]) => sum + readByUserIds.length, 0)
  if (changes.length > maxPerTransaction.changes || readers > maxPerTransaction.readers) return true
  const { input, caller } = call
  if (!input.verifyUserPermissions) return false
  // The permission provider is asked between transactions.
  if (caller.providerRevision !== undefined) return true
  if (changes.length > maxPerTransaction.verified) return true
  const found = await find(db, call, changes)
  const keys = [...found.values()].map(({ key }) => key)
  // Verifying may remove all recipients.
  const scope = { organizationId: input.organizationId, hiddenNotifications: keys }
  return keys.length > 0 && !(await isSmall(db, caller.apiKey, scope))
}

/** Throws before the first change if a notification would become too large (spec 0.7). */
async function checkSizes(db: Db, call: Call<Update>, changes: Changes): Promise<void> {
  for (let start = 0; start < changes.length; start += notificationsPerQuery) {
    const some = changes.slice(start, start + notificationsPerQuery)
    const found = await find(db, call, some)
    for (const [id, change] of some) {
      const stored = found.get(id)
      if (stored) stringifyData({ ...stored.content, ...contentOf(change) }, `notification ${id}`)
    }
  }
}

const find = async (db: Db, { input, caller }: Call<Update>, changes: Changes) =>
  lists.findMany(db, caller.apiKey, {
    ...(await filterOf(db, caller, input)),
    ids: changes.map(([id]) => id),
  })

/** A user only marks notifications as read, and only for the user. */
function checkUser({ input, caller: { user } }: Call<Update>): void {
  if (!user) return
  refuseFields(user, input, ['verifyUserPermissions'])
  for (const [index, change] of listOf(input).entries()) {
    refuseFields(user, change, contentFields, `notifications[${index}].`)
    if (change.readByUserIds?.some((id) => id !== user.userId)) {
      throw denied(`notifications[${index}].readByUserIds must be the user of the token.`)
    }
  }
}

const contentFields = [
  'actionUser',
  'displayHeadlineMessageTemplate',
  'displayHeadlineMessageTemplateData',
  'displayBodyMessage',
  'notificationSourceData',
] as const

/**
 * Makes changes from the position on, at most `notificationsPerQuery` of them, until the transaction's time is used up.
 * Returns where to continue, or undefined after the last change.
 */
async function updateSome(
  db: Db,
  call: Call<Update>,
  changes: Changes,
  from: Position,
  updated: string[],
  answers: ProviderAnswers | undefined,
): Promise<Position | undefined> {
  const startedAt = performance.now()
  const { budgetMs } = paceOf(db)
  const some = changes.slice(from.change, from.change + notificationsPerQuery)
  const found = await find(db, call, some)
  let { change: next, verifying } = from
  for (const [id, change] of some) {
    const stored = found.get(id)
    if (stored && !verifying) {
      await updateOne(db, call, stored, change)
      updated.push(id)
      const { key, documentId } = stored
      if (call.input.verifyUserPermissions) verifying = { key, documentId, after: undefined }
    }
    while (verifying) {
      const after = await verifySome(db, call, verifying, answers)
      verifying = after && { ...verifying, after }
      if (verifying && performance.now() - startedAt > budgetMs) return { change: next, verifying }
    }
    next++
    if (performance.now() - startedAt > budgetMs) break
  }
  return next < changes.length ? { change: next } : undefined
}

async function updateOne(
  db: Db,
  { input: { organizationId }, caller: { apiKey } }: Call<Update>,
  { id, key, content }: StoredNotification,
  change: Change,
): Promise<void> {
  const sent = contentOf(change)
  if (Object.keys(sent).length > 0) {
    const merged = { ...content, ...sent }
    await notifications.setContent(db, apiKey, { organizationId, id, key, content: merged })
  }
  const readers = unique(change.readByUserIds ?? [])
  if (readers.length > 0) {
    const keep = change.persistReadForUsers === true
    await recipients.markRead(db, apiKey, { organizationId, key }, readers, keep)
  }
}

/** Removes the recipients on one page who may not read the document. Returns where the next page starts, if there is one. */
async function verifySome(
  db: Db,
  { input: { organizationId }, caller, now }: Call<Update>,
  { key, documentId, after }: NonNullable<Position['verifying']>,
  answers: ProviderAnswers | undefined,
): Promise<Cursor | undefined> {
  const { apiKey } = caller
  const page = { after, limit: recipientsPerPage }
  const some = await recipients.findSome(db, apiKey, { organizationId, key }, page)
  const mayRead = await readersOf(db, caller, { organizationId, documentId }, some.recipients, now, answers)
  const removed = some.recipients.filter((one) => !mayRead(one))
  if (answers?.hasUnanswered) throw new Unanswered()
  await recipients.remove(db, apiKey, organizationId, [key], removed)
  return some.next
}

const hasContent = (change: Change) => Object.keys(contentOf(change)).length > 0

/** The fields that an update replaces. Other keys of the input are ignored. */
function contentOf(change: Partial<Content>): Partial<Content> {
  return withoutNulls(Object.fromEntries(contentFields.map((field) => [field, change[field]])))
}
