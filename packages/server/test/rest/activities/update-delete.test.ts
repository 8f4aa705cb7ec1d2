import { describe, expect, test } from 'vitest'
import { stores, useServer } from '../../support/harness.ts'
import { add, idsOf, organizationId, setImmutable, tenantWithLog } from './calls.ts'

const updated = { success: true, message: 'Activity updated.' }
const notUpdated = { success: false, message: 'Failed to update activity.' }
const deleted = { success: true, message: 'Activity deleted.' }
const notDeleted = { success: false, message: 'Failed to delete activity.' }

describe.each(stores)('activities.update on %s', (store) => {
  const server = useServer(store)

  test('[21.3] update replaces the fields that are sent, removes those that are null, and keeps everything else', async () => {
    const tenant = await tenantWithLog(server)
    await add(tenant, [{ id: 'a', entityData: { x: 1 }, actionIcon: 'old', targetSubEntityId: 'part' }])
    const read = async () => (await tenant.client.activities.get({ organizationId })).data[0]
    const before = await read()
    const change = {
      id: 'a',
      changes: { s: { from: 1, to: 2 } },
      entityData: null,
      entityTargetData: [1],
      displayMessageTemplate: 'new',
      displayMessageTemplateData: { y: 2 },
      actionIcon: 'new',
    }
    const junk = {
      actionType: 'x',
      featureType: 'crdt',
      actionUser: { userId: 'bob' },
      immutable: true,
      junk: 1,
    }
    const activities = [{ ...change, ...junk }]
    expect(await tenant.client.activities.update({ organizationId, activities })).toEqual({
      message: 'Activity(s) updated successfully.',
      data: { a: updated },
    })
    const { entityData: _, ...kept } = { ...before, ...change }
    expect(await read()).toEqual(kept)
  })

  test('[21.3] [0.4] [0.4.2] activities that are unknown or immutable fail, and of a repeated id the first entry applies', async () => {
    const tenant = await tenantWithLog(server)
    await add(tenant, [{ id: 'a' }])
    await setImmutable(tenant, true)
    await add(tenant, [{ id: 'fixed', actionIcon: 'old' }])
    await setImmutable(tenant, false)
    const activities = ['a', 'fixed', 'unknown', 'a'].map((id, index) => ({ id, actionIcon: `new ${index}` }))
    const { data } = await tenant.client.activities.update({ organizationId, activities })
    expect(data).toEqual({ a: updated, fixed: notUpdated, unknown: notUpdated })
    const read = await tenant.client.activities.get({ organizationId, order: 'asc' })
    expect(read.data.map(({ actionIcon }) => actionIcon)).toEqual(['new 0', 'old'])
    const elsewhere = { organizationId: 'other', activities: [{ id: 'a' }] }
    expect((await tenant.client.activities.update(elsewhere)).data).toEqual({ a: notUpdated })
  })

  test('[0.7.6] update refuses a call after which an activity would have more than 16 KiB, and changes nothing', async () => {
    const tenant = await tenantWithLog(server)
    await add(tenant, [{ id: 'a' }, { id: 'b', entityData: 'x'.repeat(10_000) }])
    const call = tenant.client.activities.update({
      organizationId,
      activities: [
        { id: 'a', actionIcon: 'new' },
        { id: 'b', entityTargetData: 'x'.repeat(10_000) },
      ],
    })
    await expect(call).rejects.toMatchObject({ status: 'INVALID_ARGUMENT' })
    const { data } = await tenant.client.activities.get({ organizationId, activityIds: ['a'] })
    expect(data[0]).not.toHaveProperty('actionIcon')
  })

  test.each<[string, Record<string, unknown>]>([
    ['organizationId is required.', { organizationId: undefined }],
    ['activities must not be empty.', { activities: [] }],
    ['activities[0].id is required.', { activities: [{}] }],
    ['activities[0].actionIcon must be a string.', { activities: [{ id: 'a', actionIcon: 1 }] }],
  ])('[21.3] [0.3] update refuses a faulty body: %s', async (message, change) => {
    const { headers } = await tenantWithLog(server)
    const data = { organizationId, activities: [{ id: 'a' }], ...change }
    const answer = await server.post('/v2/activities/update', { data }, headers)
    expect(answer).toMatchObject({ status: 400, body: { error: { status: 'INVALID_ARGUMENT', message } } })
  })
})

describe.each(stores)('activities.delete on %s', (store) => {
  const server = useServer(store)

  test('[21.4] delete with ids returns a result for each id', async () => {
    const tenant = await tenantWithLog(server)
    await add(tenant, [{ id: 'a' }, { id: 'b' }, { id: 'c', targetEntityId: 'other' }])
    await setImmutable(tenant, true)
    await add(tenant, [{ id: 'fixed' }])
    await add(tenant, [{ id: 'elsewhere' }], { documentId: 'doc_2' })
    const activityIds = ['a', 'c', 'fixed', 'elsewhere', 'unknown', 'a']
    const filter = { organizationId, documentId: 'doc_1', targetEntityId: 'task', activityIds }
    expect(await tenant.client.activities.delete(filter)).toEqual({
      message: 'Activity(s) deleted successfully.',
      data: { a: deleted, c: notDeleted, fixed: notDeleted, elsewhere: notDeleted, unknown: notDeleted },
    })
    expect((await idsOf(tenant)).sort()).toEqual(['b', 'c', 'elsewhere', 'fixed'])
    const { data } = await tenant.client.activities.delete({ organizationId, activityIds: ['c', 'fixed'] })
    expect(data).toEqual({ c: deleted, fixed: notDeleted })
  })

  test('[21.4] [21.4.1] delete without ids returns the deleted activities, and immutable ones stay', async () => {
    const tenant = await tenantWithLog(server)
    await add(tenant, [{ id: 'a' }, { id: 'b', targetEntityId: 'other' }])
    await add(tenant, [{ id: 'c' }], { documentId: 'doc_2' })
    await setImmutable(tenant, true)
    await add(tenant, [{ id: 'fixed' }])
    const remove = async (filter: object) =>
      (await tenant.client.activities.delete({ organizationId, ...filter })).data
    expect(await remove({ documentId: 'doc_1', targetEntityId: 'other' })).toEqual({ b: deleted })
    expect(await remove({ documentId: 'doc_1' })).toEqual({ a: deleted })
    expect(await remove({ documentId: 'doc_1' })).toEqual({})
    expect(await remove({ targetEntityId: 'task' })).toEqual({ c: deleted })
    expect(await remove({ organizationId: 'unknown', targetEntityId: 'task' })).toEqual({})
    expect(await idsOf(tenant)).toEqual(['fixed'])
  })

  test('[8.4] [10.4] [10.4.1] activities are deleted with their document unless they are immutable, and all with their organization', async () => {
    const tenant = await tenantWithLog(server)
    const { client } = tenant
    await client.folders.add({ organizationId, createOrganization: true, folders: [{ folderId: 'f' }] })
    const documentIds = ['doc_1', 'doc_2', 'doc_3']
    for (const immutable of [false, true]) {
      await setImmutable(tenant, immutable)
      for (const documentId of documentIds) {
        await add(tenant, [{ id: `${documentId} ${immutable ? 'fixed' : 'mutable'}` }], { documentId })
      }
    }
    await client.documents.move({ organizationId, documentIds: ['doc_2'], folderId: 'f' })
    await client.documents.delete({ organizationId, documentIds: ['doc_1'] })
    await client.folders.delete({ organizationId, folderId: 'f' })
    expect(await idsOf(tenant)).toEqual(['doc_3 fixed', 'doc_2 fixed', 'doc_1 fixed', 'doc_3 mutable'])
    expect(await idsOf(tenant, { documentId: 'doc_2' })).toEqual(['doc_2 fixed'])
    await client.organizations.delete({ organizationIds: [organizationId] })
    await client.organizations.add({ organizations: [{ organizationId }] })
    expect(await idsOf(tenant)).toEqual([])
  })

  test('[10.8] a migration moves all activities of a document, and those of the target stay', async () => {
    const tenant = await tenantWithLog(server)
    const { client } = tenant
    await add(tenant, [{ id: 'mutable' }])
    await setImmutable(tenant, true)
    await add(tenant, [{ id: 'fixed' }])
    await add(tenant, [{ id: 'there' }], { documentId: 'new' })
    const input = { organizationId, documentId: 'doc_1', newDocumentId: 'new' }
    const { migrationId } = (await client.documents.migrate(input)).data
    const status = async () =>
      (await client.documents.migrateStatus({ organizationId, migrationId })).data.status
    await expect.poll(status, { timeout: 30_000 }).toBe('completed')
    expect((await idsOf(tenant, { documentId: 'new' })).sort()).toEqual(['fixed', 'mutable', 'there'])
    expect(await idsOf(tenant, { documentId: 'doc_1' })).toEqual([])
  })

  const none = 'At least one of documentId, targetEntityId, or activityIds must be provided.'
  test.each<[string, Record<string, unknown>]>([
    ['organizationId is required.', { organizationId: undefined }],
    [none, {}],
    [none, { userId: 'ada' }],
    ['activityIds must not be empty.', { documentId: 'doc_1', activityIds: [] }],
    [
      'activityIds must have at most 500 items.',
      { activityIds: Array.from({ length: 501 }, (_, n) => `a${n}`) },
    ],
  ])('[21.4] [0.3] delete refuses a faulty body: %s', async (message, change) => {
    const tenant = await tenantWithLog(server)
    await add(tenant, [{ id: 'a' }])
    const data = { organizationId, ...change }
    const answer = await server.post('/v2/activities/delete', { data }, tenant.headers)
    expect(answer).toMatchObject({ status: 400, body: { error: { status: 'INVALID_ARGUMENT', message } } })
    expect(await idsOf(tenant)).toEqual(['a'])
  })

  test('[0.2.1] two API keys have separate activities', async () => {
    const mine = await tenantWithLog(server)
    const theirs = await tenantWithLog(server)
    await add(mine, [{ id: 'same', entityData: 'mine' }])
    await add(theirs, [{ id: 'same', entityData: 'theirs' }])
    const activities = [{ id: 'same', entityData: 'changed' }]
    await theirs.client.activities.update({ organizationId, activities })
    await theirs.client.activities.delete({ organizationId, documentId: 'doc_1' })
    expect(await idsOf(theirs)).toEqual([])
    const { data } = await mine.client.activities.get({ organizationId, userId: 'ada' })
    expect(data).toMatchObject([{ id: 'same', entityData: 'mine' }])
  })
})
