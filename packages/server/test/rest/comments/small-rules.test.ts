import { describe, expect, test } from 'vitest'
import { createClient } from '@plenum/client'
import { tokenFor } from '../../support/access/user-tokens.ts'
import { stores, useServer } from '../../support/harness.ts'
import { ada, comment, commentCalls, documentId, organizationId, ref, refused } from './calls.ts'

describe.each(stores)('annotations on %s', (store) => {
  const server = useServer(store)
  const { tenantWithDocument } = commentCalls(server)

  test('[19.2.4] with documentId and documentIds, get reads only the document that is both', async () => {
    const tenant = await tenantWithDocument()
    const { client, add, get } = tenant
    await add('a1')
    await client.documents.add({ organizationId, documents: [{ documentId: 'doc_2' }] })
    const commentAnnotations = [{ annotationId: 'a2', commentData: [comment('x')] }]
    await client.commentAnnotations.add({ ...ref, documentId: 'doc_2', commentAnnotations })
    const read = async (filter: object) => (await get(filter)).map(({ annotationId }) => annotationId)
    expect(await read({ documentIds: ['doc_1', 'doc_2'] })).toEqual(['a2', 'a1'])
    expect(await read({ documentId: 'doc_2', documentIds: ['doc_1', 'doc_2'] })).toEqual(['a2'])
    expect(await read({ documentId: 'doc_2', documentIds: ['doc_1'] })).toEqual([])

    const user = createClient({
      url: server.url,
      apiKey: tenant.apiKey,
      token: await tokenFor(tenant, 'ada'),
    })
    const readAsUser = async (filter: object) =>
      (await user.commentAnnotations.get({ organizationId, ...filter })).data.length
    expect(await readAsUser({ documentId: 'doc_2', documentIds: ['doc_1'] })).toBe(0)
    expect(await readAsUser({ documentId: 'doc_2', documentIds: ['doc_2'] })).toBe(1)
  })

  test('[25.6] the author reads an annotation whose access context the author does not hold, also one of an earlier release', async () => {
    const tenant = await tenantWithDocument()
    await tenant.add('a1', { context: { access: { team: 'red' } } })
    const readAs = async (userId: string) => {
      const token = await tokenFor(tenant, userId)
      const user = createClient({ url: server.url, apiKey: tenant.apiKey, token })
      const { data } = await user.commentAnnotations.get(ref)
      const { data: counts } = await user.commentAnnotations.count({
        organizationId,
        documentIds: [documentId],
        userId,
      })
      return [data.length, counts[documentId]?.total]
    }
    const expectAuthorOnly = async () =>
      expect([await readAs('ada'), await readAs('grace')]).toEqual([
        [1, 1],
        [0, 0],
      ])
    await expectAuthorOnly()
    const { audience } = await server.database.read
      .selectFrom('annotations')
      .select('audience')
      .where('api_key', '=', tenant.apiKey)
      .executeTakeFirstOrThrow()
    expect(JSON.parse(audience ?? '')).toEqual({ access: ['team:red'], authorUserId: 'ada' })
    await server.database.write((db) =>
      db
        .updateTable('annotations')
        .set({ audience: JSON.stringify({ access: ['team:red'] }) })
        .where('api_key', '=', tenant.apiKey)
        .execute(),
    )
    await expectAuthorOnly()
  })

  test('[19.1.6] under v1 a tagged user needs a text, in all operations that have one', async () => {
    const { add, post } = await tenantWithDocument()
    await add('a1', { commentData: [comment('x', { commentId: 1 })] })
    const tagged = (...taggedUserContacts: object[]) => ({ ...comment('x'), taggedUserContacts })
    const noText = { userId: 'ada' }
    const withText = { userId: 'ada', text: '@Ada' }
    const calls: [path: string, field: string, data: (...contacts: object[]) => object][] = [
      [
        'add',
        'commentAnnotations[0].commentData[0].taggedUserContacts[1].text',
        (...contacts) => ({ commentAnnotations: [{ commentData: [tagged(...contacts)] }] }),
      ],
      [
        'comments/add',
        'commentData[0].taggedUserContacts[1].text',
        (...contacts) => ({ annotationId: 'a1', commentData: [tagged(...contacts)] }),
      ],
      [
        'comments/update',
        'updatedData.taggedUserContacts[1].text',
        (...taggedUserContacts) => ({
          annotationId: 'a1',
          commentIds: [1],
          updatedData: { taggedUserContacts },
        }),
      ],
    ]
    for (const [path, field, data] of calls) {
      const send = (version: string, ...contacts: object[]) =>
        post(path, { ...ref, ...data(...contacts) }, version)
      expect(await send('v1', withText, noText)).toEqual(refused(`${field} is required.`))
      expect(await send('v1', withText)).toMatchObject({ status: 200 })
      expect(await send('v2', withText, noText)).toMatchObject({ status: 200 })
    }
  })

  test('[22.4] [22.6] annotations and documents have no fields that depend on the list, on drafts, or on who has read what', async () => {
    const { add, one, client } = await tenantWithDocument()
    await add('a1', { location: { id: 1 } })
    await client.commentAnnotations.markViewed({ ...ref, annotationIds: ['a1'], userId: 'grace' })
    const fields = ['annotationIndex', 'isDraft', 'hasDraftComments', 'approved', 'viewedBy']
    const annotation = await one('a1')
    expect(fields.filter((field) => field in annotation)).toEqual([])
    expect((await client.documents.get({ organizationId })).data[0]).not.toHaveProperty('locations')
  })

  test('[22.5] a location needs an id or a name, in annotations, updates and notifications', async () => {
    const { add, one, refuseAll, client } = await tenantWithDocument()
    await add('a1', { location: { id: 0 } })
    const commentData = [comment('x')]
    const message = (field: string) => `${field} must have an id or a locationName.`
    await refuseAll([
      [
        'add',
        { commentAnnotations: [{ commentData, location: {} }] },
        message('commentAnnotations[0].location'),
      ],
      [
        'add',
        { commentAnnotations: [{ commentData }, { commentData, location: { page: 1 } }] },
        message('commentAnnotations[1].location'),
      ],
      ['update', { updatedData: { location: { page: 1 } } }, message('updatedData.location')],
    ])
    await add('a2', { location: { locationName: 'Page' } })
    expect((await one('a2')).location).toEqual({ locationName: 'Page' })
    const notification = {
      ...ref,
      actionUser: ada,
      displayHeadlineMessageTemplate: 'New',
      displayBodyMessage: 'New',
      notifyUsers: [ada],
    }
    await expect(client.notifications.add({ ...notification, location: { page: 1 } })).rejects.toMatchObject({
      message: message('location'),
    })
    await client.notifications.add({ ...notification, locationId: 'page', location: { page: 1 } })
    await client.notifications.add({ ...notification, location: { id: 0 } })
  })
})
