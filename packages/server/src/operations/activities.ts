import { type Activity, ApiError, type Input, type Operations } from '@plenum/protocol'
import { newId } from '../access/ids.ts'
import type { Call, Handlers } from '../calls/call.ts'
import { findDocuments } from '../store/access/access.ts'
import * as activities from '../store/activities/activities.ts'
import * as activityConfig from '../store/activities/config.ts'
import * as lists from '../store/activities/lists.ts'
import type { StoredActivity } from '../store/activities/lists.ts'
import type { Db } from '../store/engine/db.ts'
import { cursorOf } from '../store/engine/scan.ts'
import * as users from '../store/users/users.ts'
import { visibleHistory } from './comments/visible-history.ts'
import { ensureDocument } from './shared/levels.ts'
import { byId, manyOutcomes, outcomes, unique } from './shared/batches.ts'
import { loadCurrentUsers } from './shared/current-users.ts'
import { page, withPageToken } from './shared/paging.ts'
import { scannedList, scanningOf } from './shared/scanned-list.ts'
import { withoutNulls } from './shared/without-nulls.ts'

type Add = Operations['activities']['add']
type Delete = Operations['activities']['delete']

/** Activities that one query reads. Each may have 16 KiB. */
const rowsPerQuery = 32

export const activityHandlers: Handlers<Operations['activities']> = {
  async add(call) {
    const {
      input,
      caller: { apiKey },
      db,
      now,
    } = call
    const { organizationId, documentId } = input
    const { isEnabled, immutable } = await activityConfig.findSettings(db, apiKey)
    if (!isEnabled) {
      throw new ApiError('FAILED_PRECONDITION', 'Activity logs are not enabled for this workspace.')
    }
    requireTargets(input.activities)
    const added = withIds(input.activities).map(([id, sent]) => ({
      id,
      documentId,
      featureType: sent.featureType,
      actionType: sent.actionType,
      targetEntityId: sent.targetEntityId,
      timestamp: now,
      immutable,
      content: contentOf(sent),
    }))
    const actors = byId(
      input.activities.map(({ actionUser }) => actionUser),
      ({ userId }) => userId,
    )
    await ensureDocument(call, input)
    await users.ensure(db, apiKey, [...actors.values()], now)
    await activities.add(db, apiKey, organizationId, added)
    return { success: true, ids: added.map(({ id }) => id), message: 'Activity(s) added successfully.' }
  },

  async get(call) {
    const { input, caller, db } = call
    const { activityIds, order = 'desc' } = input
    const filter = { ...input, ids: activityIds && unique(activityIds) }
    const reading = call.services.longReads.open(caller, call.abandoned)
    const scanning = scanningOf(reading)
    const history = await visibleHistory<StoredActivity>(call, input, scanning.query, {
      snapshotOf: ({ content }) => content.entityData,
      withDeleted: true,
    })
    const { apiKey } = caller
    const list = {
      read: scannedList({
        scanning,
        find: (window) =>
          lists.findPositions(db, apiKey, filter, { ...window, order }, scanning, history?.keepAbout),
        cursorOf,
        load: async (positions) => {
          const ids = positions.map(({ key }) => key)
          const rows = await reading.query(() => lists.findMany(db, apiKey, input.organizationId, ids))
          return history ? history.keep(rows) : rows
        },
      }),
      cursor: ({ timestamp, id }: StoredActivity) => [timestamp, id],
      rowsPerQuery,
      reading,
    }
    const shown = (rows: readonly StoredActivity[]) => presentActivities(call, input.organizationId, rows)
    return withPageToken(await page(call, input, list, shown))
  },

  async update({ input, caller: { apiKey }, db }) {
    const changes = new Map(
      [...byId(input.activities, ({ id }) => id)].map(([id, change]) => [id, changedContent(change)]),
    )
    const updated = await activities.update(db, apiKey, input.organizationId, changes)
    return outcomes(changes.keys(), (id) =>
      updated.has(id)
        ? { success: true, message: 'Activity updated.' }
        : { success: false, message: 'Failed to update activity.' },
    )
  },

  delete: {
    scope: ({ organizationId, documentId, targetEntityId, activityIds }) =>
      // Activities that the caller names are few.
      activityIds !== undefined || (documentId === undefined && targetEntityId === undefined)
        ? undefined
        : { organizationId, activitiesOf: { documentId, targetEntityId } },
    remove: deleteActivities,
  },
}

async function deleteActivities({ input, caller: { apiKey }, db, alreadyRemovedIds }: Call<Delete>) {
  const { organizationId, documentId, targetEntityId, activityIds } = input
  if (documentId === undefined && targetEntityId === undefined && activityIds === undefined) {
    throw new ApiError(
      'INVALID_ARGUMENT',
      'At least one of documentId, targetEntityId, or activityIds must be provided.',
    )
  }
  const filter = { organizationId, documentId, targetEntityId }
  if (activityIds) {
    const ids = unique(activityIds)
    const deleted = new Set(await activities.remove(db, apiKey, { ...filter, ids }))
    return outcomes(ids, (id) => (deleted.has(id) ? isDeleted : isNotDeleted))
  }
  // If earlier steps have removed the activities, this transaction must not search for more: that could take too long.
  return manyOutcomes(alreadyRemovedIds ?? (await activities.remove(db, apiKey, filter)), () => isDeleted)
}

const isDeleted = { success: true, message: 'Activity deleted.' }
const isNotDeleted = { success: false, message: 'Failed to delete activity.' }

type Sent = Input<Add>['activities'][number]

function requireTargets(sent: readonly Sent[]): void {
  for (const [index, { featureType, targetEntityId }] of sent.entries()) {
    if (featureType === 'custom' && targetEntityId === undefined) {
      throw new ApiError('INVALID_ARGUMENT', `activities[${index}].targetEntityId is required.`)
    }
  }
}

/** The activities with their ids. New ids increase, so lists keep the order of the request. */
function withIds(sent: readonly Sent[]): [id: string, activity: Sent][] {
  const newIds = sent.map(() => newId('act')).sort()
  const all = sent.map((activity, index): [string, Sent] => [activity.id ?? newIds[index]!, activity])
  return [...byId(all, ([id]) => id).values()]
}

/** The fields that are stored as JSON. Other keys of the input are ignored. */
function contentOf(sent: Sent): lists.Content {
  const { actionUser, targetSubEntityId, isActivityResolverUsed } = sent
  const user = { ...withoutNulls(actionUser), userId: actionUser.userId }
  return {
    actionUser: user,
    ...withoutNulls({ targetSubEntityId, isActivityResolverUsed, ...changedContent(sent) }),
  }
}

/** The fields that an update replaces. Null removes one. */
function changedContent(change: Partial<lists.Content>): Partial<lists.Content> {
  const {
    changes,
    entityData,
    entityTargetData,
    displayMessageTemplate,
    displayMessageTemplateData,
    actionIcon,
  } = change
  const fields = {
    changes,
    entityData,
    entityTargetData,
    displayMessageTemplate,
    displayMessageTemplateData,
    actionIcon,
  }
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
}

/** The activities as callers read them (spec 22.11). */
export async function presentActivities(
  { caller: { apiKey }, db }: { caller: { apiKey: string }; db: Db },
  organizationId: string,
  rows: readonly StoredActivity[],
): Promise<Activity[]> {
  const found = await findDocuments(db, apiKey, organizationId, unique(rows.map((row) => row.documentId)))
  const actors = rows.map(({ content }) => content.actionUser.userId)
  const currentUser = await loadCurrentUsers(db, apiKey, actors)
  return rows.map(({ documentId, content, annotationId: _, audience: _audience, ...activity }) => {
    const folderId = found.get(documentId)?.folderId
    return {
      ...activity,
      ...content,
      actionUser: currentUser(content.actionUser),
      metadata: { apiKey, organizationId, documentId, ...(folderId != null && { folderId }) },
    }
  })
}
