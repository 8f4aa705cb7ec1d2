import type { Client } from '@plenum/client'
import { describe, expect, test } from 'vitest'
import * as given from '../../support/given.ts'
import { stores, useServer } from '../../support/harness.ts'

const organizationId = 'org_1'
const documentId = 'doc_1'
const ref = { organizationId, documentId }

type Resource = { type: 'organization' | 'document' | 'context'; id: string; organizationId?: string }
const member: Resource = { type: 'organization', id: organizationId }
const field: Resource = { type: 'context', id: 'team:red', organizationId }

/** Who reads, with the resources of their token. Nobody but Ada writes. */
const readers = {
  ada: [member],
  grace: [member],
  holder: [member, field],
  outsider: [],
} satisfies Record<string, Resource[]>
type Reader = keyof typeof readers

/** Annotations by Ada, and who sees them. */
const annotations: { id: string; fields: object; seenBy: Reader[] }[] = [
  { id: 'public', fields: {}, seenBy: ['ada', 'grace', 'holder', 'outsider'] },
  {
    id: 'members',
    fields: { visibility: { type: 'organizationPrivate' } },
    seenBy: ['ada', 'grace', 'holder'],
  },
  {
    id: 'restricted',
    fields: { visibility: { type: 'restricted', userIds: ['outsider'] } },
    seenBy: ['ada', 'outsider'],
  },
  { id: 'context', fields: { context: { access: { team: 'red' } } }, seenBy: ['ada', 'holder'] },
  {
    id: 'both',
    fields: { visibility: { type: 'restricted', userIds: ['grace'] }, context: { access: { team: 'red' } } },
    seenBy: ['ada'],
  },
]

describe.each(stores)('calls of users on %s', (store) => {
  const server = useServer(store)

  async function scene() {
    const tenant = await given.tenant(server)
    await given.document(tenant)
    const { client } = tenant
    await client.users.add({ organizationId, users: [{ userId: 'ada' }, { userId: 'grace' }] })
    await client.permissions.add({
      user: { userId: 'outsider' },
      permissions: { resources: [{ type: 'folder', id: 'elsewhere', organizationId }] },
    })
    const signIn = async (userId: string, resources: Resource[] = [], isAdmin = false): Promise<Client> => {
      const { data } = await client.auth.generateToken({
        userId,
        userProperties: { name: userId, email: `${userId}@example.com`, isAdmin },
        permissions: { resources },
      })
      return server.client({ token: data.token })
    }
    const add = (annotationId: string, fields: object = {}) =>
      client.commentAnnotations.add({
        ...ref,
        commentAnnotations: [
          { annotationId, commentData: [{ commentText: 'x', from: { userId: 'ada' } }], ...fields },
        ],
      })
    return { ...tenant, signIn, add }
  }
  const refused = (status: string, message: string) => expect.objectContaining({ status, message })

  test('[19.0.5] for a user, the users of other organizations do not exist, and for a backend they do', async () => {
    const { client, signIn, add } = await scene()
    await client.organizations.add({ organizations: [{ organizationId: 'org_2' }] })
    const closed = { organizationId: 'org_2', documentId: 'closed' }
    await client.documents.add({ organizationId: 'org_2', documents: [{ documentId: 'closed' }] })
    await client.documents.updateAccess({
      organizationId: 'org_2',
      documentIds: ['closed'],
      accessType: 'restricted',
    })
    const other = { userId: 'user_of_org_2', name: 'Other', email: 'other@example.com' }
    await client.users.add({ organizationId: 'org_2', users: [other] })
    await add('a1')
    // An author gets a profile, and has no stored grant in any organization.
    await client.comments.add({
      ...ref,
      annotationId: 'a1',
      commentData: [{ commentText: 'x', from: { userId: 'guest' } }],
    })
    const ada = await signIn('ada', [member])

    /** Every way to name a user, with the field of the refusal. */
    const naming: Record<string, (caller: Client, userId: string, place?: typeof ref) => Promise<unknown>> = {
      'commentData[0].taggedUserContacts': (caller, userId, place = ref) =>
        caller.comments.add({
          ...place,
          annotationId: 'a1',
          commentData: [
            { commentText: 'Look', from: { userId: 'ada' }, taggedUserContacts: [{ userId, text: '@x' }] },
          ],
        }),
      'commentAnnotations[0].assignedTo': (caller, userId, place = ref) =>
        caller.commentAnnotations.add({
          ...place,
          commentAnnotations: [
            { commentData: [{ commentText: 'x', from: { userId: 'ada' } }], assignedTo: { userId } },
          ],
        }),
      'updatedData.assignedTo': (caller, userId, place = ref) =>
        caller.commentAnnotations.update({
          ...place,
          annotationIds: ['a1'],
          updatedData: { assignedTo: { userId } },
        }),
    }
    const mention = async (caller: Client) => {
      const { data } = await caller.comments.add({
        ...ref,
        annotationId: 'a1',
        commentData: [
          { commentText: '{{user_of_org_2}} {{grace}} {{missing_user}}', from: { userId: 'ada' } },
        ],
      })
      const { data: found } = await client.comments.get({ ...ref, annotationId: 'a1', commentIds: data })
      return found.flatMap((one) => one?.to?.map(({ userId }) => userId) ?? [])
    }

    for (const [field, name] of Object.entries(naming)) {
      for (const userId of ['user_of_org_2', 'missing_user']) {
        await expect(name(ada, userId), field).rejects.toEqual(
          refused('INVALID_ARGUMENT', `${field}: the user ${userId} does not exist.`),
        )
      }
      for (const userId of ['grace', 'guest', 'ada']) await name(ada, userId)
      // Without access, nothing that is stored decides about the answer.
      for (const userId of ['user_of_org_2', 'missing_user', 'ada']) {
        await expect(name(ada, userId, closed), field).rejects.toEqual(
          refused('PERMISSION_DENIED', 'User does not have access to document'),
        )
      }
    }
    expect(await mention(ada)).toEqual(['grace'])
    for (const name of Object.values(naming)) await name(client, 'user_of_org_2')

    // The backend has involved that user in threads of the organization.
    expect(await mention(ada)).toEqual(['user_of_org_2', 'grace'])
  })

  test('[25.6] [25.6.1] the audience of an annotation decides who lists it, reads it, counts it and reads its events', async () => {
    const { signIn, add } = await scene()
    for (const { id, fields } of annotations) await add(id, fields)
    for (const reader of Object.keys(readers) as Reader[]) {
      const client = await signIn(reader, readers[reader])
      const expected = annotations.filter(({ seenBy }) => seenBy.includes(reader)).map(({ id }) => id)
      const listed = (await client.commentAnnotations.get(ref)).data as { annotationId: string }[]
      expect([reader, listed.map((one) => one.annotationId).sort()]).toEqual([reader, expected.toSorted()])
      const ids = annotations.map(({ id }) => id)
      const byId = (await client.commentAnnotations.get({ ...ref, annotationIds: ids })).data
      expect((byId as unknown[]).map((one) => one !== null)).toEqual(ids.map((id) => expected.includes(id)))
      const { data: counts } = await client.commentAnnotations.count({
        organizationId,
        documentIds: [documentId],
        userId: reader,
      })
      expect(counts[documentId]?.total).toBe(expected.length)
      const inLog = async () =>
        (await client.events.get(ref)).data.events.map((event) => event.annotationId).sort()
      await expect.poll(inLog).toEqual(expected.toSorted())
      for (const annotationId of ids) {
        const comments = client.comments.get({ ...ref, annotationId })
        if (expected.includes(annotationId)) await comments
        else await expect(comments).rejects.toEqual(refused('INVALID_ARGUMENT', 'Annotation does not exist.'))
      }
    }
  })

  test('[0.2.2] [0.2.3] a user comments as the user of the token, and cannot act as another user or send fields of backends', async () => {
    const { signIn, client: backend } = await scene()
    const client = await signIn('grace', [member])
    const add = (commentData: object[], more: object = {}) =>
      client.commentAnnotations.add({
        ...ref,
        commentAnnotations: [{ annotationId: 'a1', commentData }],
        ...more,
      })
    for (const [input, more, message] of [
      [
        { from: { userId: 'ada' } },
        {},
        'commentAnnotations[0].commentData[0].from must be the user of the token.',
      ],
      [
        { createdAt: 1 },
        {},
        'commentAnnotations[0].commentData[0].createdAt can only be sent with the credentials of an API key.',
      ],
      [{}, { createDocument: true }, 'createDocument can only be sent with the credentials of an API key.'],
    ] as const) {
      await expect(add([{ commentText: 'x', ...input }], more)).rejects.toEqual(
        refused('PERMISSION_DENIED', message),
      )
    }
    await add([{ commentText: 'mine' }])
    const [annotation] = (await backend.commentAnnotations.get(ref)).data as Record<string, unknown>[]
    expect(annotation).toMatchObject({ from: { userId: 'grace', name: 'grace' } })
    expect(annotation).not.toHaveProperty('sourceType')
    await expect
      .poll(async () => (await backend.events.get({})).data.events)
      .toMatchObject([{ name: 'comment_annotation.add', actor: { userId: 'grace' } }])
    await expect(
      client.commentAnnotations.count({ organizationId, documentIds: [documentId], userId: 'ada' }),
    ).rejects.toEqual(refused('PERMISSION_DENIED', 'userId must be the user of the token.'))
    await expect(client.organizations.get({})).rejects.toMatchObject({ status: 'INVALID_ARGUMENT' })
  })

  test('[25.6.2] [25.5] authors and admins delete, only authors change comments, and viewers only read', async () => {
    const { signIn, add, client: backend } = await scene()
    const viewerRole = {
      type: 'document' as const,
      id: documentId,
      organizationId,
      accessRole: 'viewer' as const,
    }
    await backend.permissions.add({ user: { userId: 'vera' }, permissions: { resources: [viewerRole] } })
    const [ada, grace, admin, vera] = [
      await signIn('ada', [member]),
      await signIn('grace', [member]),
      await signIn('boss', [member], true),
      await signIn('vera'),
    ]
    await add('a1')
    const thread = { ...ref, annotationId: 'a1' }
    const commentIds = (await ada.comments.get(thread)).data.map((comment) => comment?.commentId as number)
    const edit = (client: Client) =>
      client.comments.update({ ...thread, commentIds, updatedData: { commentText: 'y' } })
    const remove = (client: Client) => client.commentAnnotations.delete({ ...ref, annotationIds: ['a1'] })
    const resolve = (client: Client) =>
      client.commentAnnotations.update({
        ...ref,
        annotationIds: ['a1'],
        updatedData: { status: { type: 'terminal' } },
      })
    const reply = (client: Client) => client.comments.add({ ...thread, commentData: [{ commentText: 'z' }] })
    const readOnly = refused('PERMISSION_DENIED', 'The user may read this document, but not write in it.')
    for (const call of [edit, remove, resolve, reply]) await expect(call(vera)).rejects.toEqual(readOnly)
    expect((await vera.comments.get(thread)).data).toHaveLength(1)
    await expect(edit(grace)).rejects.toEqual(
      refused('PERMISSION_DENIED', 'Only the author can change a comment.'),
    )
    await expect(edit(admin)).rejects.toMatchObject({ status: 'PERMISSION_DENIED' })
    await expect(remove(grace)).rejects.toEqual(
      refused('PERMISSION_DENIED', 'Only the author or an admin can delete an annotation.'),
    )
    await edit(ada)
    await resolve(grace)
    const [resolved] = (await ada.commentAnnotations.get(ref)).data as Record<string, unknown>[]
    expect(resolved).toMatchObject({ resolvedByUserId: 'grace', statusUpdatedByUserId: 'grace' })
    expect((await remove(admin)).data.a1?.success).toBe(true)
  })

  test('[25.6] [21.2.2] [27.1.6] an annotation with the id of a deleted private one does not show the events and activities of that one', async () => {
    const { signIn, add, client: backend } = await scene()
    await backend.activityConfig.update({ activityServiceConfig: { isEnabled: true } })
    const [ada, grace] = [await signIn('ada', [member]), await signIn('grace', [member])]
    const annotationId = 'a1'
    await add(annotationId, { visibility: { type: 'restricted', userIds: ['ada'] } })
    const reply = (client: Client, commentText: string) =>
      client.comments.add({ ...ref, annotationId, commentData: [{ commentText }] })
    await reply(ada, 'secret')
    await backend.commentAnnotations.delete({ ...ref, annotationIds: [annotationId] })
    const mine = { annotationId, commentData: [{ commentText: 'mine' }] }
    await grace.commentAnnotations.add({ ...ref, commentAnnotations: [mine] })
    await reply(grace, 'more')
    const names = async (client: Client) => ({
      events: (await client.events.get(ref)).data.events.map(({ name }) => name),
      activities: (await client.activities.get({ ...ref, order: 'asc' })).data.map((one) => one.actionType),
    })
    const added = ['comment_annotation.add', 'comment.add']
    await expect.poll(() => names(grace), { timeout: 20_000 }).toEqual({ events: added, activities: added })
    expect(await names(ada)).toEqual({
      events: [...added, 'comment_annotation.delete', ...added],
      activities: ['comment.add', ...added],
    })
  })

  test('[25.6.3] a user makes an annotation private only if private comments are on', async () => {
    const { signIn, add: addByAda, client: backend } = await scene()
    await addByAda('a1')
    const ada = await signIn('ada', [member])
    const restrict = () =>
      ada.commentAnnotations.update({
        ...ref,
        annotationIds: ['a1'],
        updatedData: { visibility: { type: 'restricted', userIds: ['ada'] } },
      })
    await expect(restrict()).rejects.toMatchObject({ status: 'PERMISSION_DENIED' })
    const client = await signIn('grace', [member])
    const add = () =>
      client.commentAnnotations.add({
        ...ref,
        commentAnnotations: [
          { commentData: [{ commentText: 'x' }], visibility: { type: 'organizationPrivate' } },
        ],
      })
    await expect(add()).rejects.toMatchObject({ status: 'PERMISSION_DENIED' })
    await backend.apiKeyConfig.update({ enablePrivateComments: true })
    await add()
    await restrict()
  })

  test('[19.5] [19.6] comments of others are unread until the user marks the annotation as viewed', async () => {
    const { signIn, add } = await scene()
    await add('a1')
    const [ada, grace] = [await signIn('ada', [member]), await signIn('grace', [member])]
    const unread = async (client: Client) => {
      const [annotation] = (await client.commentAnnotations.get(ref)).data as { unread?: boolean }[]
      return annotation?.unread
    }
    expect([await unread(ada), await unread(grace)]).toEqual([false, true])
    const viewed = await grace.commentAnnotations.markViewed({ ...ref, annotationIds: ['a1', 'none'] })
    expect(viewed.data).toEqual({
      a1: { success: true, id: 'a1', message: 'Annotation viewed.' },
      none: { success: false, id: 'none', message: 'Annotation not found.' },
    })
    expect(await unread(grace)).toBe(false)
    await grace.comments.add({ ...ref, annotationId: 'a1', commentData: [{ commentText: 'Yes.' }] })
    expect([await unread(ada), await unread(grace)]).toEqual([true, false])
  })

  test('[19.7] [20.5] [20.6] a user reacts once with each icon, and chooses whether to be subscribed', async () => {
    const { signIn, add } = await scene()
    await add('a1')
    const [ada, grace] = [await signIn('ada', [member]), await signIn('grace', [member])]
    const thread = { ...ref, annotationId: 'a1' }
    const [comment] = (await ada.comments.get(thread)).data
    const reaction = { ...thread, commentId: comment?.commentId as number, icon: '❤️' }
    await grace.comments.addReaction(reaction)
    await grace.comments.addReaction(reaction)
    await ada.comments.addReaction(reaction)
    const read = async () => (await ada.comments.get(thread)).data[0]?.reactionAnnotations
    expect(await read()).toMatchObject([
      { icon: '❤️', fromUsers: [{ from: { userId: 'grace' } }, { from: { userId: 'ada' } }] },
    ])
    await grace.comments.deleteReaction(reaction)
    await grace.comments.deleteReaction(reaction)
    expect(await read()).toMatchObject([{ fromUsers: [{ from: { userId: 'ada' } }] }])

    const subscribers = async () => {
      const [annotation] = (await ada.commentAnnotations.get(ref)).data as Record<string, object>[]
      const users = Object.values(annotation?.subscribedUsers ?? {}) as {
        user: { userId: string }
        type: string
      }[]
      return users.map(({ user, type }) => `${user.userId} ${type}`).sort()
    }
    expect(await subscribers()).toEqual(['ada auto'])
    await grace.commentAnnotations.subscribe(thread)
    expect(await subscribers()).toEqual(['ada auto', 'grace manual'])
    await ada.commentAnnotations.subscribe({ ...thread, subscribed: false })
    expect(await subscribers()).toEqual(['grace manual'])
  })

  test('[0.2.2] a missing, invalid or foreign token is UNAUTHENTICATED, and allowed domains apply to users', async () => {
    const tenant = await scene()
    const { client: backend } = tenant
    const post = (headers: Record<string, string>) =>
      server.post('/v2/commentannotations/get', { data: ref }, headers)
    expect((await post({ authorization: 'Bearer nonsense' })).body.error.status).toBe('UNAUTHENTICATED')
    expect((await post({ authorization: 'Basic abc' })).body.error.status).toBe('UNAUTHENTICATED')
    expect((await post({})).body.error.message).toBe('Auth Token not found in headers.')
    const { data } = await backend.auth.generateToken({
      userId: 'grace',
      userProperties: { name: 'Grace', email: 'grace@example.com' },
      permissions: { resources: [member] },
    })
    const authorization = `Bearer ${data.token}`
    expect((await post({ authorization })).status).toBe(200)
    expect((await server.post('/v2/users/get', { data: ref }, { authorization })).body.error.message).toBe(
      'This operation does not accept the token of a user. Send x-svc-api-key and x-svc-auth-token instead.',
    )
    const other = await given.tenant(server)
    expect((await post({ authorization, 'x-svc-api-key': other.apiKey })).body.error.message).toBe(
      'token_invalid: The token belongs to another API key.',
    )
    await backend.domains.add({ domains: ['app.example.com'] })
    expect((await post({ authorization, origin: 'https://evil.example' })).status).toBe(403)
    expect((await post({ authorization, origin: 'https://app.example.com' })).status).toBe(200)
  })

  test('[0.2.4] two users with the same idempotency key both write', async () => {
    const { signIn } = await scene()
    const call = { idempotencyKey: 'same' }
    for (const userId of ['ada', 'grace']) {
      const client = await signIn(userId, [member])
      const input = { ...ref, commentAnnotations: [{ commentData: [{ commentText: 'x' }] }] }
      const first = await client.commentAnnotations.add(input, call)
      expect((await client.commentAnnotations.add(input, call)).data).toEqual(first.data)
    }
    const client = await signIn('ada', [member])
    expect((await client.commentAnnotations.get(ref)).data).toHaveLength(2)
  })

  test('[25.6.4] [7.4] a stored field of the access context opens annotations until it is removed, and a user holds at most 200', async () => {
    const { signIn, add, client: backend } = await scene()
    await add('context', { context: { access: { team: 'red' } } })
    const user = { userId: 'grace' }
    const client = await signIn('grace', [member])
    const listed = async () => ((await client.commentAnnotations.get(ref)).data as unknown[]).length
    const held = async () =>
      (await backend.permissions.get({ organizationId, userIds: ['grace'] })).data.grace?.context
    expect([await listed(), await held()]).toEqual([0, undefined])
    await backend.permissions.add({ user, permissions: { resources: [field] } })
    expect([await listed(), await held()]).toEqual([1, { accessFields: ['team:red'] }])
    const fields = Array.from({ length: 200 }, (_, index) => ({ ...field, id: `team:${index}` }))
    await expect(backend.permissions.add({ user, permissions: { resources: fields } })).rejects.toEqual(
      refused(
        'INVALID_ARGUMENT',
        'A user can hold at most 200 fields of the access context in an organization.',
      ),
    )
    await backend.permissions.remove({ userId: 'grace', permissions: { resources: [field] } })
    expect([await listed(), await held()]).toEqual([0, undefined])
  })
})
