import { describe, expect, test } from 'vitest'
import { stores, useServer } from '../../support/harness.ts'
import { ada, comment, commentCalls, grace, organizationId, ref } from './calls.ts'

describe.each(stores)('mentions on %s', (store) => {
  const server = useServer(store)
  const { tenantWithDocument } = commentCalls(server)

  test('[19] an annotation shows the current profiles of its users, without the rest of their data', async () => {
    const { client, add, one } = await tenantWithDocument()
    await add('a1', { assignedTo: grace }, '{{grace}}')
    const renamed = { userId: 'grace', name: 'Grace H.', photoUrl: 'https://x.example/g.png' }
    await client.users.update({ organizationId, users: [{ ...renamed, notes: 'x'.repeat(10_000) }] })
    const read = await one('a1')
    const shown = { ...renamed, initial: 'G', color: expect.any(String) }
    expect(read.assignedTo).toEqual(shown)
    expect(read.comments[0]?.to).toEqual([shown])
    await client.users.delete({ organizationId, userIds: ['grace'] })
    expect((await one('a1')).assignedTo).toEqual({
      userId: 'grace',
      name: expect.stringMatching(/^User /),
      initial: 'U',
      color: expect.any(String),
    })
  })

  test('[19.0.4] an id between double braces mentions the user, in text and in HTML, or is text', async () => {
    const { client, add, one } = await tenantWithDocument()
    const odd = 'R&D <x>'
    await client.users.add({ organizationId, users: [{ userId: odd }, { userId: 'a b' }] })
    await add('a1', {
      commentData: [
        comment('{{grace}} {{nobody}} {{a b}} {{}} {{{ada}}} {{gra\nce}}', {
          commentHtml: '<p>{{R&amp;D &lt;x&gt;}}</p>',
        }),
      ],
    })
    const read = await one('a1')
    expect(read.comments[0]?.to.map(({ userId }) => userId)).toEqual(['grace', 'a b', 'ada', odd])
    expect(read.mentionedUserIds.toSorted()).toEqual([odd, 'a b', 'ada', 'grace'].sort())
    expect(read.involvedUserIds.toSorted()).toEqual([odd, 'a b', 'ada', 'grace'].sort())
  })

  test('[19.0.4] users whose ids contain braces are mentioned, replaced and shown by name in notifications', async () => {
    const { client, add, one } = await tenantWithDocument()
    const odd = ['a}', 'x{{y', 'b}}c', '{']
    await client.users.add({
      organizationId,
      users: odd.map((userId) => ({ userId, name: `Name ${userId}` })),
    })
    const text = odd.map((id) => `{{${id}}}`).join(' ')
    await add('a1', {
      commentData: [
        {
          commentText: `${text} {{a}} {{z{{grace}}`,
          commentHtml: `<p>${text}</p>`,
          from: ada,
          triggerNotification: true,
        },
      ],
    })
    const mentioned = [...odd, 'grace']
    expect((await one('a1')).comments[0]?.to.map(({ userId }) => userId)).toEqual(mentioned)
    const { data: inbox } = await client.notifications.get({ organizationId, documentId: ref.documentId })
    await expect
      .poll(async () => (await client.notifications.get({ organizationId, userId: 'a}' })).data.length)
      .toBe(1)
    expect(inbox.length).toBeLessThanOrEqual(1)
    const [notification] = (await client.notifications.get({ organizationId, userId: 'a}' })).data
    expect(notification?.displayBodyMessage).toBe(
      `${odd.map((id) => `@Name ${id}`).join(' ')} {{a}} {{z@Grace`,
    )

    const updateUsers = [{ oldUser: { userId: 'a}' }, newUser: { userId: 'new' } }]
    await client.commentAnnotations.update({ ...ref, annotationIds: ['a1'], updateUsers })
    const [after] = (await one('a1')).comments
    expect(after?.commentText).toBe(`${text.replace('{{a}}}', '{{new}}')} {{a}} {{z{{grace}}`)
    expect(after?.commentHtml).toBe(`<p>${text.replace('{{a}}}', '{{new}}')}</p>`)
  })

  test('[19.3.3] updateUsers replaces all users at once, everywhere, also if they change places', async () => {
    const { client, apiKey, add, reply, one, comments, get, events } = await tenantWithDocument()
    await client.users.add({ organizationId, users: [{ userId: 'linus' }] })
    const commentData = [
      comment('{{grace}} {{linus}}', { commentId: 1, taggedUserContacts: [{ text: '@G', userId: 'grace' }] }),
      { commentText: 'x', from: grace, commentId: 2 },
    ]
    await add('a1', {
      commentData,
      assignedTo: grace,
      visibility: { type: 'restricted', userIds: ['grace'] },
    })
    await add('untouched', { commentData: [{ commentText: 'x', from: { userId: 'linus' } }] })
    await server.database.write(async (db) => {
      const row = { api_key: apiKey, organization_id: organizationId, document_id: ref.documentId, number: 1 }
      const reaction = { ...row, comment_id: 1, icon: 'HEART', created_at: 1 }
      await db
        .insertInto('comment_reactions')
        .values(['ada', 'grace'].map((user_id) => ({ ...reaction, user_id })))
        .execute()
      await db
        .insertInto('annotation_views')
        .values({ ...row, user_id: 'grace', viewed_seq: 3, viewed_at: 1 })
        .execute()
    })
    const untouched = await one('untouched')
    const replacement = (oldId: string, newId: string) => ({
      oldUser: { userId: oldId },
      newUser: { userId: newId },
    })
    const updateUsers = [replacement('grace', 'ada'), replacement('ada', 'margaret')]
    const { data } = await client.commentAnnotations.update({ ...ref, updateUsers })
    expect(data).toMatchObject({ a1: { success: true }, untouched: { success: true } })
    const read = await one('a1')
    expect(read).toMatchObject({
      from: { userId: 'margaret' },
      assignedTo: { userId: 'ada' },
      visibilityConfig: { userIds: ['ada', 'margaret'] },
      involvedUserIds: ['ada', 'linus', 'margaret'],
      mentionedUserIds: ['ada', 'linus'],
    })
    expect(read.comments).toMatchObject([
      {
        commentText: '{{ada}} {{linus}}',
        from: { userId: 'margaret' },
        to: [{ userId: 'ada' }, { userId: 'linus' }],
        taggedUserContacts: [{ text: '@G', userId: 'ada' }],
        reactionAnnotations: [{ icon: 'HEART' }],
      },
      { from: { userId: 'ada' } },
    ])
    const reactions = read.comments[0]?.reactionAnnotations[0]?.fromUsers ?? []
    expect(reactions.map(({ from }) => from.userId).sort()).toEqual(['ada', 'margaret'])
    const views = await server.database.read
      .selectFrom('annotation_views')
      .select('user_id')
      .where('api_key', '=', apiKey)
      .execute()
    expect(views).toEqual([{ user_id: 'ada' }])
    expect(await get({ mentionedUserIds: ['grace'] })).toEqual([])
    expect(await one('untouched')).toEqual(untouched)
    await reply('a1', comment('after'))
    expect(await comments('a1')).toHaveLength(3)
    const names = (await events(5)).map(({ name, annotationId }) => `${name} ${annotationId}`)
    expect(names.slice(3)).toEqual(['comment_annotation.update a1', 'comment.add a1'])
  })

  test('[19.3.4] the assigned user is involved until another user is assigned', async () => {
    const { client, add, one } = await tenantWithDocument()
    await client.users.add({ organizationId, users: [{ userId: 'linus' }] })
    await add('a1', { assignedTo: grace })
    const assign = async (assignedTo: { userId: string } | null) => {
      await client.commentAnnotations.update({ ...ref, updatedData: { assignedTo } })
      const { involvedUserIds, subscribedUsers } = await one('a1')
      expect(Object.values(subscribedUsers as object)).toHaveLength(involvedUserIds.length)
      return involvedUserIds
    }
    expect((await one('a1')).involvedUserIds).toEqual(['ada', 'grace'])
    expect(await assign({ userId: 'linus' })).toEqual(['ada', 'linus'])
    expect(await assign(null)).toEqual(['ada'])
    expect(await assign(ada)).toEqual(['ada'])
  })
})
