import { describe, expect, test } from 'vitest'
import { stored } from '../../support/data/filled-tenant.ts'
import * as given from '../../support/given.ts'
import { stores, useServer } from '../../support/harness.ts'

const organizationId = 'org_1'
const ref = { organizationId, documentId: 'doc_1' }
const ada = { userId: 'ada-4711', name: 'Ada Erased', email: 'Ada-4711@example.com' }
const grace = { userId: 'grace', name: 'Grace', email: 'grace@example.com' }
const ofAda = /ada-4711|Ada Erased|Ada-text/i

describe.each(stores)('what an erasure leaves of threads on %s', (store) => {
  const server = useServer(store)

  async function scene() {
    const tenant = await given.tenant(server)
    await given.document(tenant)
    await tenant.client.users.add({ organizationId, users: [ada, grace] })
    const addThread = (annotationId: string, more: object) =>
      tenant.client.commentAnnotations.add({
        ...ref,
        commentAnnotations: [{ annotationId, commentData: [], ...more }],
      })
    const erase = async (userId = ada.userId) => {
      const { jobId } = (await tenant.client.userData.delete({ userIds: [userId] })).data
      const isDone = async () => (await tenant.client.userData.deleteStatus({ jobId })).data.isDeleteCompleted
      await expect.poll(isDone, { timeout: 30_000 }).toBe(true)
    }
    const thread = async (annotationId: string) => {
      const { data } = await tenant.client.commentAnnotations.get({ ...ref, annotationIds: [annotationId] })
      return (data as unknown as Record<string, unknown>[])[0]
    }
    /** The tables whose rows name Ada. Removed grants and signals are kept for a while. */
    const tablesNamingAda = async () =>
      Object.entries(await stored(server, tenant))
        .filter(([name, rows]) => !['grants', 'signals'].includes(name) && ofAda.test(rows.join()))
        .map(([name]) => name)
    return { ...tenant, addThread, erase, thread, tablesNamingAda }
  }

  test('[14.2.1] the context and the attachments of comments of others no longer have the user, and keep the rest', async () => {
    const { addThread, erase, thread, tablesNamingAda } = await scene()
    const attachments = [
      { attachmentId: 1, name: 'plan.pdf', uploadedBy: ada, size: 7 },
      { attachmentId: 2, name: 'by-id.pdf', uploadedBy: ada.userId },
      { attachmentId: 3, url: 'https://example.com/own.pdf', userId: ada.userId, email: ada.email },
      { attachmentId: 4, name: 'other.pdf', uploadedBy: grace },
    ]
    const context = {
      reviewers: [ada, grace],
      requestedBy: { name: ada.name, email: ada.email.toUpperCase() },
      contact: ada.email,
      title: 'kept',
    }
    await addThread('a1', { commentData: [{ commentText: 'Fine.', from: grace, context, attachments }] })
    expect(await tablesNamingAda()).toContain('comments')
    await erase()
    expect(await tablesNamingAda()).toEqual([])
    expect(await thread('a1')).toMatchObject({
      comments: [
        {
          commentText: 'Fine.',
          context: { reviewers: [{ userId: 'grace' }], title: 'kept' },
          attachments: [
            { attachmentId: 1, name: 'plan.pdf', size: 7 },
            { attachmentId: 2, name: 'by-id.pdf' },
            { attachmentId: 3, url: 'https://example.com/own.pdf' },
            { attachmentId: 4, name: 'other.pdf', uploadedBy: { userId: 'grace' } },
          ],
        },
      ],
    })
  })

  test('[14.2.1] a thread that others continued loses the context, the page and the suggestion of its erased author, and is seen by nobody else', async () => {
    const { addThread, erase, thread, tablesNamingAda, apiKey } = await scene()
    const comments = [
      { commentText: 'first Ada-text', from: ada },
      { commentText: 'I agree', from: grace },
    ]
    await addThread('a1', {
      commentData: comments,
      context: { note: 'Ada-text', access: { team: 'red', userId: ada.userId } },
      pageInfo: { url: 'https://app.example.com/ada-4711', title: 'Ada-text' },
      type: 'suggestion',
      suggestion: { summary: 'Ada-text', status: 'pending', targetId: 'title' },
      location: { id: 7, locationName: 'intro' },
    })
    expect(await tablesNamingAda()).toContain('annotations')
    await erase()
    expect(await tablesNamingAda()).toEqual([])
    const left = await thread('a1')
    expect(left).toMatchObject({
      from: { userId: 'grace' },
      comments: [{ commentText: 'I agree' }],
      suggestion: { status: 'pending', targetId: 'title' },
      location: { id: 7, locationName: 'intro' },
    })
    expect(left).not.toHaveProperty('pageInfo')
    expect(left?.['context']).toEqual({
      access: { team: 'red', userId: 'deleted user' },
      accessFields: ['team:red', 'userId:deleted user'],
    })
    const [row] = await server.database.read
      .selectFrom('annotations')
      .select('audience')
      .where('api_key', '=', apiKey)
      .execute()
    expect(JSON.parse(row?.audience ?? '')).toMatchObject({ access: ['team:red', 'userId:deleted user'] })
  })

  test('[14.2.1] the context of an annotation of another user keeps its access fields when it names the user', async () => {
    const { addThread, erase, thread } = await scene()
    const context = { ...ada, access: { team: 'red' } }
    await addThread('a1', { commentData: [{ commentText: 'Fine.', from: grace }], context })
    await erase()
    expect((await thread('a1'))?.['context']).toEqual({ access: { team: 'red' }, accessFields: ['team:red'] })
  })

  test('[14.2.9] texts that others wrote stay, also if they have the name of the user', async () => {
    const { addThread, erase, thread } = await scene()
    const commentText = `${ada.name} should look at this. {{${ada.userId}}}`
    await addThread('a1', { commentData: [{ commentText, from: grace }] })
    await erase()
    const left = 'Ada Erased should look at this. @deleted user'
    expect(await thread('a1')).toMatchObject({ comments: [{ commentText: left }] })
  })

  test('[14.2.7] a request that is repeated with its idempotency key does not get an answer that names the user, and does not run again', async () => {
    const { client, headers, erase } = await scene()
    const post = (key: string, users: object[]) =>
      server.post(
        '/v2/users/add',
        { data: { organizationId, users } },
        { ...headers, 'idempotency-key': key },
      )
    const [ofErased, ofOther] = [
      await post('one', [{ ...ada, userId: 'ada-4711' }]),
      await post('two', [{ userId: 'alan', name: 'Alan' }]),
    ]
    expect(JSON.stringify(ofErased.body)).toMatch(ofAda)
    await erase()
    const repeated = await post('one', [{ ...ada, userId: 'ada-4711' }])
    expect(repeated).toMatchObject({ status: 400, body: { error: { status: 'FAILED_PRECONDITION' } } })
    expect(JSON.stringify(repeated.body)).not.toMatch(ofAda)
    expect((await post('two', [{ userId: 'alan', name: 'Alan' }])).body).toEqual(ofOther.body)
    const { data } = await client.users.get({ organizationId })
    expect(JSON.stringify(data)).not.toMatch(ofAda)
  })

  test('[14.2.7] the answer to a repeated request stays if one of its words only equals the id of the erased user', async () => {
    const { client, headers, erase } = await scene()
    await client.users.add({ organizationId, users: [{ userId: 'success' }] })
    const resources = [{ type: 'organization', id: organizationId }]
    const grant = () =>
      server.post(
        '/v2/auth/permissions/add',
        { data: { user: { userId: 'alan' }, permissions: { resources } } },
        { ...headers, 'idempotency-key': 'one' },
      )
    const add = () =>
      server.post(
        '/v2/users/add',
        { data: { organizationId, users: [{ userId: 'alan' }] } },
        { ...headers, 'idempotency-key': 'two' },
      )
    const [granted, added] = [await grant(), await add()]
    expect([granted.status, added.status]).toEqual([200, 200])
    await erase('success')
    expect(await grant()).toMatchObject({ status: 200, body: granted.body })
    await erase('alan')
    expect(await grant()).toMatchObject({ status: 200, body: granted.body })
    // The id of the user is the name of a field in this answer.
    expect(await add()).toMatchObject({ status: 400, body: { error: { status: 'FAILED_PRECONDITION' } } })
  })
})
