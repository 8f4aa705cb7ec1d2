import { describe, expect, test } from 'vitest'
import { stored } from '../../support/data/filled-tenant.ts'
import { stores, useServer } from '../../support/harness.ts'
import { ada, comment, commentCalls, documentId, organizationId, ref } from './calls.ts'

const braced = (count: number) => Array.from({ length: count }, (_, index) => `{{u${index}}}`).join('')
const annotationOf = (...commentData: object[]) => ({ commentAnnotations: [{ commentData }] })

describe.each(stores)('bad input for comments on %s', (store) => {
  const server = useServer(store, { isOwn: true })
  const { tenantWithDocument } = commentCalls(server)

  test('[19.0.1] a comment that is too long, or mentions too many users, is refused and changes nothing', async () => {
    const { add, refuseAll } = await tenantWithDocument()
    await add('a1', { commentData: [comment('first', { commentId: 1 })] })
    const long = { ...comment('x'), context: { text: 'x'.repeat(66_000) } }
    const tagged = Array.from({ length: 101 }, (_, index) => ({ userId: `u${index}` }))
    const path = 'commentAnnotations[0].commentData[0]'
    await refuseAll([
      [
        'add',
        annotationOf(comment('x'.repeat(10_001))),
        `${path}.commentText must have at most 10000 characters.`,
      ],
      [
        'add',
        annotationOf(comment('', { commentHtml: 'x'.repeat(20_001) })),
        /commentHtml must have at most 20000/,
      ],
      [
        'add',
        annotationOf(comment('', { commentHtml: '<b>'.repeat(1_001) })),
        /commentHtml must have at most 1000 tags/,
      ],
      ['add', annotationOf(comment(braced(101))), `${path}.commentText must mention at most 100 users.`],
      ['add', annotationOf(comment(braced(1_200))), /must mention at most 100 users/],
      [
        'add',
        annotationOf(comment('x', { taggedUserContacts: tagged })),
        /taggedUserContacts must have at most 100/,
      ],
      ['add', annotationOf(long), /The data of a comment would have \d+ bytes as JSON/],
      ['comments/add', { annotationId: 'a1', commentData: [long] }, /The data of a comment would have/],
      [
        'comments/update',
        { annotationId: 'a1', commentIds: [1], updatedData: { context: long.context } },
        /would have/,
      ],
      [
        'comments/update',
        { annotationId: 'a1', commentIds: [1], updatedData: { commentText: braced(101) } },
        /mention/,
      ],
    ])
  })

  test('[19.0.1] one call with too many comments, tags or mentions is refused and changes nothing', async () => {
    const { refuseAll } = await tenantWithDocument()
    const many = (count: number, commentData: object[]) => ({
      commentAnnotations: Array.from({ length: count }, () => ({ commentData })),
    })
    const tags = comment('', { commentHtml: '<b>'.repeat(1_000) })
    await refuseAll([
      [
        'add',
        many(
          21,
          Array.from({ length: 100 }, () => comment('x')),
        ),
        'One call can add at most 2000 comments.',
      ],
      ['add', many(6, [tags]), 'One call can add at most 5000 tags.'],
      ['add', many(41, [comment(braced(100))]), 'One call can add at most 4000 mentions.'],
    ])
  })

  test('[19.0.1] an annotation refuses more than 1,000 comments, 2 MiB or 500 users, also if comments are changed', async () => {
    const { client, add, reply, refuseAll } = await tenantWithDocument()
    await add('many')
    const hundred = Array.from({ length: 100 }, () => comment('x'))
    for (let call = 0; call < 9; call++) await reply('many', ...hundred)
    await reply('many', ...hundred.slice(1))
    const large = Array.from({ length: 15 }, (_, index) =>
      comment('x', { commentId: index + 1, context: { text: 'x'.repeat(60_000) } }),
    )
    await add('large', { commentData: large })
    await reply('large', ...large.map((one) => ({ ...one, commentId: one.commentId + 20 })))
    await reply(
      'large',
      ...Array.from({ length: 90 }, (_, index) => comment('x', { commentId: 100 + index })),
    )
    const users = Array.from({ length: 510 }, (_, index) => ({ userId: `u${index}` }))
    for (const some of [users.slice(0, 300), users.slice(300)])
      await client.users.add({ organizationId, users: some })
    const mentions = (from: number) =>
      comment(Array.from({ length: 100 }, (_, index) => `{{u${from + index}}}`).join(''))
    await add('crowd', { commentData: [0, 100, 200, 300].map(mentions) })
    const grown = {
      commentIds: Array.from({ length: 90 }, (_, index) => 100 + index),
      updatedData: { commentText: 'y'.repeat(9_999) },
    }
    const unicode = { ...grown, updatedData: { commentText: '界'.repeat(2_000) } }
    await refuseAll([
      [
        'comments/add',
        { annotationId: 'many', commentData: [comment('x')] },
        'An annotation can have at most 1000 comments.',
      ],
      [
        'comments/add',
        { annotationId: 'large', commentData: large.slice(0, 6).map(({ commentId: _, ...one }) => one) },
        /at most 2 MiB/,
      ],
      ['comments/update', { annotationId: 'large', ...grown }, /at most 2 MiB/],
      ['comments/update', { annotationId: 'large', ...unicode }, /at most 2 MiB/],
      [
        'comments/add',
        { annotationId: 'crowd', commentData: [mentions(400)] },
        'An annotation can involve at most 500 users.',
      ],
    ])
  })

  test('[19.0.3] a comment without content, or with control characters, is refused', async () => {
    const { add, refuseAll, reply, comments } = await tenantWithDocument()
    await add('a1', { commentData: [comment('first', { commentId: 1 })] })
    const path = 'commentAnnotations[0].commentData[0]'
    await refuseAll([
      ['add', annotationOf({ from: ada }), `${path}.commentText is required.`],
      ['add', annotationOf(comment(' \n\t ')), `${path}.commentText is required.`],
      [
        'add',
        annotationOf({ from: ada, commentHtml: '<script>x</script>' }),
        `${path}.commentText is required.`,
      ],
      ['add', annotationOf({ commentText: 'x' }), `${path}.from is required.`],
      ['add', annotationOf(), /commentData must not be empty/],
      [
        'comments/update',
        { annotationId: 'a1', commentIds: [1], updatedData: { commentText: '' } },
        'updatedData.commentText is required.',
      ],
      ...['\u0008', '\u000B', '\u001B', '\u007F', '\u009F'].map((character): [string, object, RegExp] => [
        'add',
        annotationOf(comment(`a${character}b`)),
        /control characters/,
      ]),
    ])
    const text = 'one\r\n\ttwo 🙂 \u2028'
    await reply('a1', comment(text), { from: ada, isCommentResolverUsed: true })
    await reply('a1', { from: ada, attachments: [{ attachmentId: 1, name: 'a.png' }] })
    expect((await comments('a1')).map(({ commentText }) => commentText)).toEqual([
      'first',
      text,
      undefined,
      undefined,
    ])
  })

  test('[19.1.1] unknown users who are tagged, assigned or named in visibility are refused; an author gets a profile', async () => {
    const { client, add, refuseAll } = await tenantWithDocument()
    await add('a1')
    const path = 'commentAnnotations[0]'
    const withFields = (fields: object) => ({
      commentAnnotations: [{ commentData: [comment('x')], ...fields }],
    })
    const update = (updatedData: object) => ({ annotationIds: ['a1'], updatedData })
    await refuseAll([
      [
        'add',
        withFields({ assignedTo: { userId: 'nobody' } }),
        `${path}.assignedTo: the user nobody does not exist.`,
      ],
      [
        'add',
        withFields({ visibility: { type: 'restricted', userIds: ['ada', 'nobody'] } }),
        `${path}.visibility.userIds: the user nobody does not exist.`,
      ],
      [
        'add',
        withFields({ visibility: { type: 'restricted', userIds: [] } }),
        `${path}.visibility.userIds must not be empty.`,
      ],
      [
        'add',
        annotationOf(comment('x', { taggedUserContacts: [{ contact: { userId: 'nobody' } }] })),
        `${path}.commentData[0].taggedUserContacts: the user nobody does not exist.`,
      ],
      [
        'update',
        update({ assignedTo: { userId: 'nobody' } }),
        'updatedData.assignedTo: the user nobody does not exist.',
      ],
      [
        'update',
        update({ resolvedByUserId: 'nobody', status: { type: 'terminal' } }),
        'updatedData.resolvedByUserId: the user nobody does not exist.',
      ],
    ])
    const from = { userId: 'newcomer', name: 'New' }
    await add('a2', {
      commentData: [comment('{{newcomer}}', { from, taggedUserContacts: [{ userId: 'newcomer' }] })],
    })
    const { data } = await client.commentAnnotations.get(ref)
    expect(data).toMatchObject([{ annotationId: 'a2', from, mentionedUserIds: ['newcomer'] }, {}])
  })

  test('[20.1] [20.2] [20.3] [20.4] unknown annotations, documents and ids of another tenant are refused', async () => {
    const { add, refuseAll, post } = await tenantWithDocument()
    const other = await tenantWithDocument()
    await other.add('theirs', { commentData: [comment('x', { commentId: 7 })] })
    await add('a1')
    const before = await stored(server, other)
    const thread = { annotationId: 'theirs', commentIds: [7] }
    const place = { organizationId: 'none', documentId: 'none' }
    await refuseAll([
      ['comments/add', { ...thread, commentData: [comment('x')] }, 'Annotation does not exist.'],
      ['comments/get', thread, 'Annotation does not exist.'],
      ['comments/update', { ...thread, updatedData: { commentText: 'y' } }, 'Annotation does not exist.'],
      ['comments/delete', thread, 'Annotation does not exist.'],
      ['add', { ...place, ...annotationOf(comment('x')) }, 'Organization does not exist.'],
      ['add', { documentId: 'none', ...annotationOf(comment('x')) }, 'Document does not exist.'],
      [
        'comments/add',
        { documentId: 'none', createDocument: true, ...thread, commentData: [comment('x')] },
        'Annotation does not exist.',
      ],
      [
        'add',
        { commentAnnotations: [{ annotationId: 'a:b', commentData: [comment('x')] }] },
        /annotationId must not contain ":"/,
      ],
      ['get', { updatedAfter: 1e300 }, /updatedAfter/],
      ['update', { annotationIds: ['a1'] }, 'At least one of updatedData or updateUsers must be provided.'],
      [
        'update',
        { updatedData: { context: { access: { organizationPrivate: 'x' } } } },
        /access must have keys/,
      ],
      ['update', { updatedData: { context: { access: { 'a:b': 'c' } } } }, /without ":"/],
    ])
    const named = { ...ref, annotationIds: ['theirs'] }
    expect((await post('get', named)).body.result.data).toEqual([null])
    expect((await post('delete', named)).body.result.data.theirs).toMatchObject({ success: false })
    expect(
      (await post('update', { ...named, updatedData: { assignedTo: null } })).body.result.data,
    ).toMatchObject({
      theirs: { success: false, message: 'Annotation not found.' },
    })
    expect(await stored(server, other)).toEqual(before)
  })

  // The attack `bodies that take long to parse` measures how long the server takes for it.
  test('[19.0.1] one call can add 5,000 tags', async () => {
    const { client, get } = await tenantWithDocument()
    const commentAnnotations = Array.from({ length: 5 }, () => ({
      commentData: [comment('', { commentHtml: '<img src=x>'.repeat(1_000) })],
    }))
    await client.commentAnnotations.add({ ...ref, commentAnnotations })
    expect(await get()).toHaveLength(5)
  })

  test('[0.7] a body of 10 MiB is refused', async () => {
    const { post } = await tenantWithDocument()
    const body = { ...ref, ...annotationOf(comment('x'.repeat(10 * 1024 * 1024))) }
    expect(await post('add', body)).toEqual({
      status: 413,
      body: {
        error: { status: 'INVALID_ARGUMENT', message: expect.stringMatching(/^Request body is too large/) },
      },
    })
  })

  test('[19.1] ids such as __proto__ are ordinary keys', async () => {
    const { client, add, get, one } = await tenantWithDocument()
    const { data } = await add('__proto__', { context: { access: { constructor: 'x' } } })
    expect(Object.keys(data)).toEqual(['__proto__'])
    expect((await one('__proto__')).context).toEqual({
      access: { constructor: 'x' },
      accessFields: ['constructor:x'],
    })
    await client.documents.add({ organizationId, documents: [{ documentId: '__proto__' }] })
    await client.commentAnnotations.add({
      organizationId,
      documentId: '__proto__',
      commentAnnotations: [{ commentData: [comment('x')] }],
    })
    expect(Object.keys(await get({ groupByDocumentId: true })).sort()).toEqual(['__proto__', documentId])
  })
})
