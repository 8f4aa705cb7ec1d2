import type { Operations, Organization } from '@plenum/protocol'
import { internalId } from '../access/ids.ts'
import type { Handlers } from '../calls/call.ts'
import * as organizations from '../store/organizations.ts'
import { withoutNulls } from './shared/without-nulls.ts'
import { byId, inLockOrder, outcomes, unique } from './shared/batches.ts'
import { listAll, page, type Window } from './shared/paging.ts'

const idOf = (apiKey: string, organizationId: string) =>
  internalId(apiKey, 'organization', organizationId, organizationId)

/**
 * The metadata of an organization: its fields without those that only the server or another operation may set (spec 8.3,
 * 22.2).
 */
function metadata({
  organizationId: _,
  id: _id,
  disabled,
  createdAt,
  lastUpdated,
  ...keys
}: Record<string, unknown>) {
  return keys
}

export const organizationHandlers: Handlers<Operations['organizations']> = {
  async add({ input, caller: { apiKey }, db, now }) {
    const items = byId(input.organizations, (item) => item.organizationId)
    const added = await organizations.add(
      db,
      apiKey,
      inLockOrder(items).map(([organizationId, item]) => ({
        organizationId,
        data: withoutNulls(metadata(item)),
      })),
      now,
    )
    return outcomes(items.keys(), (id) => ({
      success: added.has(id),
      id: idOf(apiKey, id),
      message: added.has(id) ? 'Added Successfully' : 'Organization already exists',
    }))
  },

  async get(call) {
    const { input, caller, db, version } = call
    const { apiKey } = caller
    const ids = input.organizationIds && unique(input.organizationIds)
    const list = {
      read: (window: Window) =>
        ids ? organizations.findMany(db, apiKey, ids, window) : organizations.list(db, apiKey, window),
      cursor: ({ createdAt, id }: { createdAt: number; id: string }) => [createdAt, id],
      ...(ids && { maxRows: ids.length }),
    }
    const present = (rows: readonly Organization[]) => rows
    return version === 'v1' ? listAll(call, list, present) : page(call, input, list, present)
  },

  async update({ input, caller: { apiKey }, db, now }) {
    const updated = new Set<string>()
    const items = byId(input.organizations, (item) => item.organizationId)
    for (const [id, item] of inLockOrder(items)) {
      if (await organizations.update(db, apiKey, id, metadata(item), now)) updated.add(id)
    }
    return outcomes(items.keys(), (id) => ({
      success: updated.has(id),
      id: idOf(apiKey, id),
      message: updated.has(id) ? 'Updated Successfully' : 'Organization does not exist',
    }))
  },

  delete: {
    scope: ({ organizationIds }) => ({ organizationIds: unique(organizationIds) }),
    async remove({ input, caller: { apiKey }, db, signal }) {
      const ids = unique(input.organizationIds)
      const deleted = await organizations.remove(db, apiKey, ids)
      for (const organizationId of deleted) signal({ kind: 'gone', organizationId })
      return outcomes(ids, (id) => ({
        success: deleted.has(id),
        id: idOf(apiKey, id),
        message: deleted.has(id) ? 'Deleted Successfully' : 'Organization does not exist',
      }))
    },
  },

  async updateDisableState({ input, caller: { apiKey }, db, now }) {
    const ids = unique(input.organizationIds)
    await organizations.add(
      db,
      apiKey,
      ids.map((organizationId) => ({ organizationId, data: {} })),
      now,
    )
    await organizations.setDisabled(db, apiKey, ids, input.disabled, now)
    return outcomes(ids, (id) => ({
      success: true,
      id: idOf(apiKey, id),
      message: 'Updated disable state for organization Successfully',
    }))
  },
}
