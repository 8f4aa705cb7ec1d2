import { describe, expect, test } from 'vitest'
import * as given from '../../support/given.ts'
import { stores, type TestServer, useServer } from '../../support/harness.ts'

const organizationId = 'org_1'
const documentId = 'doc_1'
const ref = { organizationId, documentId }
const ada = { userId: 'ada' }
const page = { id: 'page', locationName: 'Page', zoom: 2 }
const elsewhere = { id: 'elsewhere' }

describe.each(stores)('locations on %s', (store) => {
  const server = useServer(store)

  /** A tenant with annotations and notifications at `page` and elsewhere. */
  async function scene(annotations = 2) {
    const tenant = await given.tenant(server)
    const { client } = tenant
    await given.document(tenant)
    await client.commentAnnotations.add({
      ...ref,
      commentAnnotations: Array.from({ length: annotations }, (_, index) => ({
        annotationId: `a${index}`,
        commentData: [{ commentId: 1, commentText: 'x', from: ada }],
        location: page,
      })),
    })
    await client.commentAnnotations.add({
      ...ref,
      commentAnnotations: [
        { annotationId: 'b', commentData: [{ commentText: 'x', from: ada }], location: elsewhere },
      ],
    })
    await given.notification(tenant, { notificationId: 'at', location: page })
    await given.notification(tenant, { notificationId: 'by-id', locationId: 'page' })
    await given.notification(tenant, { notificationId: 'other', location: elsewhere })
    const call = (path: string, data: object) => callWithBody(server, tenant, path, data)
    const annotationsAt = async (locationId: string) => {
      const { data } = await client.commentAnnotations.get({
        ...ref,
        locationIds: [locationId],
        pageSize: 1000,
      })
      return (data as { annotationId: string; location: object }[]).toSorted((one, other) =>
        one.annotationId < other.annotationId ? -1 : 1,
      )
    }
    const notificationsAt = async (locationId: string) =>
      (await client.notifications.get(ref)).data
        .filter(({ metadata }) => [metadata.locationId, metadata.location?.id].includes(locationId))
        .map(({ id }) => id)
        .sort()
    return { ...tenant, call, annotationsAt, notificationsAt }
  }

  const callWithBody = (on: TestServer, { apiKey, authToken }: given.Tenant, path: string, data: object) =>
    on.post(`/v1/organizations/documents/locations/${path}`, {
      data: { apiKey, authToken, documentId, ...data },
    })

  test('[11.1] an update gives annotations and notifications at the old location the new one, also very many', async () => {
    const { call, client, annotationsAt, notificationsAt } = await scene(50)
    const before = await client.commentAnnotations.get({ ...ref, annotationIds: ['a0'] })
    const newLocation = { id: 'next', locationName: 'Next' }
    const answer = await call('update', { migrate: { oldLocation: { id: 'page' }, newLocation } })
    expect(answer).toMatchObject({
      status: 200,
      body: { result: { message: 'Location updated.', data: null } },
    })
    expect(await annotationsAt('page')).toEqual([])
    const moved = await annotationsAt('next')
    expect(moved).toHaveLength(50)
    expect(moved[0]?.location).toEqual(newLocation)
    expect(moved[0]).toHaveProperty('lastUpdated', (before.data as { lastUpdated: number }[])[0]?.lastUpdated)
    expect(await notificationsAt('page')).toEqual([])
    expect(await notificationsAt('next')).toEqual(['at', 'by-id'])
    expect((await annotationsAt('elsewhere')).map(({ annotationId }) => annotationId)).toEqual(['b'])
    expect(await notificationsAt('elsewhere')).toEqual(['other'])
  })

  test('[11.1.1] merge keeps the fields of the old location, and nothing changes if nothing is at it', async () => {
    const { call, annotationsAt } = await scene()
    await call('update', {
      organizationId,
      merge: true,
      migrate: { oldLocation: { id: 'page' }, newLocation: { locationName: 'Renamed' } },
    })
    expect((await annotationsAt('page')).map(({ location }) => location)).toEqual([
      { ...page, locationName: 'Renamed' },
      { ...page, locationName: 'Renamed' },
    ])
    const nowhere = { migrate: { oldLocation: { id: 'nowhere' }, newLocation: { id: 'page' } } }
    expect((await call('update', nowhere)).status).toBe(200)
    expect(await annotationsAt('page')).toHaveLength(2)
  })

  test('[11.2] delete removes the annotations and notifications at the location, and nothing else', async () => {
    const { call, client, annotationsAt, notificationsAt } = await scene(130)
    const answer = await call('data/delete', { location: { id: 'page' } })
    expect(answer).toMatchObject({
      status: 200,
      body: { result: { message: 'Data deleted successfully.', data: null } },
    })
    expect(await annotationsAt('page')).toEqual([])
    expect(await notificationsAt('page')).toEqual([])
    expect(await annotationsAt('elsewhere')).toHaveLength(1)
    expect(await notificationsAt('elsewhere')).toEqual(['other'])
    expect((await client.documents.get({ organizationId })).data).toHaveLength(1)
  })

  test('[K1.3] the client sends its credentials with operations that accept them inside data', async () => {
    const { client, annotationsAt } = await scene()
    await client.locations.update({ ...ref, migrate: { oldLocation: page, newLocation: { id: 'next' } } })
    expect(await annotationsAt('next')).toHaveLength(2)
    await client.locations.deleteData({ ...ref, location: { id: 'next' } })
    expect(await annotationsAt('next')).toEqual([])
  })

  test('[11.1.1] [11.2] [19.4.1] a location without id and name, an unknown document and an ambiguous one are refused', async () => {
    const { call, client } = await scene()
    const refused = async (path: string, data: object) => (await call(path, data)).body.error.message
    const migrate = { oldLocation: page, newLocation: { zoom: 3 } }
    expect(await refused('update', { migrate })).toBe(
      'migrate.newLocation must have an id or a locationName.',
    )
    expect(await refused('data/delete', { location: {} })).toBe('location must have an id or a locationName.')
    expect(await refused('data/delete', { location: page, documentId: 'none' })).toBe(
      'Document does not exist.',
    )
    await client.documents.add({
      organizationId: 'org_2',
      createOrganization: true,
      documents: [{ documentId }],
    })
    expect(await refused('data/delete', { location: page })).toBe('organizationId is required.')
  })
})
