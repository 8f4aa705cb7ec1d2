import type { Input, Operations } from '@plenum/protocol'
import type { Call, PreparedWrite } from '../../calls/call.ts'
import type { Cursor, Db } from '../../store/engine/db.ts'
import { mergeKeys, stringifyData } from '../../store/engine/json.ts'
import type { Content, StoredNotification } from '../../store/notifications/lists.ts'
import * as lists from '../../store/notifications/lists.ts'
import * as recipients from '../../store/notifications/recipients.ts'
import * as notifications from '../../store/notifications/notifications.ts'
import { paceOf } from '../../store/engine/pace.ts'
import { isSmall } from '../../store/deletions/removal-size.ts'
import { byId, inLockOrder, outcomes, unique } from '../batches.ts'
import { filterOf } from './filters.ts'
import { readersOf } from './recipients.ts'

type Update = Operations['notifications']['update']
type Change = Exclude<Input<Update>['notifications'], readonly unknown[]>
type Changes = readonly [id: string, change: Change][]

/** What one transaction changes: about 20 ms of SQLite. Each notification whose recipients are verified takes about 1 ms. */
const maxTogether = { changes: 100, readers: 2000, verified: 20 }
/** Notifications that are found by one statement. Each may have 16 KiB. */
const foundTogether = 20
/** Recipients who are verified together: about 3 ms of SQLite. */
const verifiedTogether = 200

/** Where an update goes on. */
interface Position {
  change: number
  /** The notification of that change is changed. Its recipients behind `after` are not verified yet. */
  verifying?: { key: string; documentId: string; after: Cursor | undefined }
}

/**
 * Many changes are made in short transactions, so that others write in between. Each notification is changed by one of
 * them. If the server dies, the caller has no answer and may send the same call again.
 */
export const updateNotifications: PreparedWrite<Update> = {
  async prepare(call): Promise<ReadonlySet<string> | undefined> {
    const { input, caller, db, writeStep } = call
    const changes = changesOf(input)
    if (!(await areMany(db, call, changes))) return undefined
    await requireSizes(db, call, changes)
    const updated = new Set<string>()
    for (let next: Position | undefined = { change: 0 }; next;) {
      const from: Position = next
      const some: string[] = []
      next = await writeStep((step) => {
        some.length = 0
        return updateSome(step, call, changes, from, some)
      }, caller.apiKey)
      for (const id of some) updated.add(id)
    }
    return updated
  },

  async write(call, updatedBefore: ReadonlySet<string> | undefined) {
    const changes = changesOf(call.input)
    const updated = new Set(updatedBefore)
    if (!updatedBefore) {
      const ids: string[] = []
      for (let next: Position | undefined = { change: 0 }; next;) {
        next = await updateSome(call.db, call, changes, next, ids)
      }
      for (const id of ids) updated.add(id)
    }
    const sent = byId(listOf(call.input), ({ id }) => id)
    return outcomes(sent.keys(), (id) =>
      updated.has(id)
        ? { success: true, message: 'Notification updated.' }
        : { success: false, message: 'Failed to update notification.' },
    )
  },
}

const listOf = ({ notifications }: Input<Update>): readonly Change[] =>
  Array.isArray(notifications) ? notifications : [notifications]

const changesOf = (input: Input<Update>): Changes => inLockOrder(byId(listOf(input), ({ id }) => id))

/** Whether there may be too much to change for one transaction. */
async function areMany(db: Db, call: Call<Update>, changes: Changes): Promise<boolean> {
  const readers = changes.reduce((sum, [, { readByUserIds = [] }]) => sum + readByUserIds.length, 0)
  if (changes.length > maxTogether.changes || readers > maxTogether.readers) return true
  const { input, caller } = call
  if (!input.verifyUserPermissions) return false
  if (changes.length > maxTogether.verified) return true
  const found = await find(db, call, changes)
  const keys = [...found.values()].map(({ key }) => key)
  // To verify recipients may be to remove them all.
  const scope = { organizationId: input.organizationId, hiddenNotifications: keys }
  return keys.length > 0 && !(await isSmall(db, caller.apiKey, scope))
}

/** What has become too large is refused before anything is changed (spec 0.7). */
async function requireSizes(db: Db, call: Call<Update>, changes: Changes): Promise<void> {
  for (let start = 0; start < changes.length; start += foundTogether) {
    const some = changes.slice(start, start + foundTogether)
    const found = await find(db, call, some)
    for (const [id, change] of some) {
      const stored = found.get(id)
      if (stored) stringifyData({ ...stored.content, ...contentOf(change) }, `notification ${id}`)
    }
  }
}

const find = async (db: Db, { input, caller: { apiKey } }: Call<Update>, changes: Changes) =>
  lists.findMany(db, apiKey, { ...(await filterOf(db, apiKey, input)), ids: changes.map(([id]) => id) })

/** Makes changes from the position on, for as long as one transaction may take. Undefined: all are made. */
async function updateSome(
  db: Db,
  call: Call<Update>,
  changes: Changes,
  from: Position,
  updated: string[],
): Promise<Position | undefined> {
  const beganAt = performance.now()
  const { budgetMs } = paceOf(db)
  const some = changes.slice(from.change, from.change + foundTogether)
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
      const after = await verifySome(db, call, verifying)
      verifying = after && { ...verifying, after }
      if (verifying && performance.now() - beganAt > budgetMs) return { change: next, verifying }
    }
    next++
    if (performance.now() - beganAt > budgetMs) break
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

/** Removes the recipients on the next page who may not read the document. Gives where to go on if there may be more. */
async function verifySome(
  db: Db,
  { input: { organizationId }, caller, now }: Call<Update>,
  { key, documentId, after }: NonNullable<Position['verifying']>,
): Promise<Cursor | undefined> {
  const { apiKey } = caller
  const page = { after, limit: verifiedTogether }
  const some = await recipients.findSome(db, apiKey, { organizationId, key }, page)
  const mayRead = await readersOf(db, caller, { organizationId, documentId }, some.recipients, now)
  const dropped = some.recipients.filter((one) => !mayRead(one))
  await recipients.remove(db, apiKey, organizationId, [key], dropped)
  return some.next
}

/** What an update replaces; other keys of the caller's are not kept. */
function contentOf(change: Partial<Content>): Partial<Content> {
  const {
    actionUser,
    displayHeadlineMessageTemplate,
    displayHeadlineMessageTemplateData,
    displayBodyMessage,
    notificationSourceData,
  } = change
  return mergeKeys(
    {},
    {
      actionUser,
      displayHeadlineMessageTemplate,
      displayHeadlineMessageTemplateData,
      displayBodyMessage,
      notificationSourceData,
    },
  )
}
