import { describe, expect, test } from 'vitest'
import * as given from './given.ts'
import { stores, useServer } from './harness.ts'

describe.each(stores)('organizations on %s', (store) => {
  const server = useServer(store)
  const id = expect.stringMatching(/^[0-9a-f]{32}$/)

  test('[4.9] get returns the id, the name and the state of each organization', async () => {
    const { client } = await given.tenant(server)
    await client.organizations.add({ organizations: [{ organizationId: 'o1', organizationName: 'Acme' }] })
    expect(await client.organizations.get({ organizationIds: ['o1'] })).toEqual({
      message: 'Organization(s) retrieved successfully.',
      data: [
        {
          id: 'o1',
          organizationName: 'Acme',
          disabled: false,
          createdAt: expect.any(Number),
          lastUpdated: expect.any(Number),
        },
      ],
    })
  })

  test('[4.9] get follows nextPageToken through every organization once', async () => {
    const { client } = await given.tenant(server)
    const ids = Array.from({ length: 25 }, (_, index) => `org ${index}`)
    await client.organizations.add({ organizations: ids.map((organizationId) => ({ organizationId })) })
    const seen: string[] = []
    let pageToken: string | undefined
    do {
      const page = await client.organizations.get({ pageSize: 10, ...(pageToken && { pageToken }) })
      seen.push(...page.data.map((one) => one.id))
      pageToken = page.nextPageToken
    } while (pageToken)
    expect(seen.length).toBe(25)
    expect(new Set(seen)).toEqual(new Set(ids))
  })

  test('[4.12] delete answers per id and leaves the envelope a success', async () => {
    const { client } = await given.tenant(server)
    await client.organizations.add({ organizations: [{ organizationId: 'o1' }] })
    expect(await client.organizations.delete({ organizationIds: ['o1', 'o2', 'o1'] })).toEqual({
      message: 'Organization(s) deleted successfully.',
      data: {
        o1: { success: true, id, message: 'Deleted Successfully' },
        o2: { success: false, id, message: 'Organization does not exist' },
      },
    })
    expect((await client.organizations.get()).data).toEqual([])
  })

  test('[4.13] update changes the name and keeps what it does not name', async () => {
    const { client } = await given.tenant(server)
    await client.organizations.add({ organizations: [{ organizationId: 'o1', organizationName: 'A', plan: 'x', tier: 1 }] })
    expect(
      await client.organizations.update({ organizations: [{ organizationId: 'o1', organizationName: 'B', tier: null }] }),
    ).toEqual({
      message: 'Organization(s) updated successfully.',
      data: { o1: { success: true, id, message: 'Updated Successfully' } },
    })
    const { data } = await client.organizations.get({ organizationIds: ['o1'] })
    expect(data[0]).toMatchObject({ organizationName: 'B', plan: 'x' })
    expect(data[0]).not.toHaveProperty('tier')
  })
})
