import type { Client, Visibility } from '../packages/client/src/index.ts'
import { body, type Case } from './case.ts'

const organizationId = 'team'
/** A comment of a user notifies the other members, so the team is as small as most teams are. */
const memberCount = 5

export async function createTeam(client: Client): Promise<void> {
  await client.organizations.add({ organizations: [{ organizationId }] })
  const users = Array.from({ length: memberCount }, (_, i) => ({ userId: `u${i}`, name: 'Ada' }))
  await client.users.add({ organizationId, users })
}

/** A token of the user who calls. */
export async function teamToken(client: Client): Promise<string> {
  const { data } = await client.auth.generateToken({
    userId: 'u1',
    userProperties: { name: 'Ada', email: 'ada@example.com' },
    permissions: { resources: [{ type: 'organization', id: organizationId, accessRole: 'editor' }] },
  })
  return data.token
}

/** Adding a comment reads the ids of the others, so threads stay as small as most threads are. */
const maxAddedPerThread = 20
const threadsPerCall = 20
const commentsPerThread = 10
const commentText =
  'The total of the second quarter does not match the table on the next page. Is it rounded?'

/** The user `u1` sees three of four threads. */
const visibilities: Visibility[] = [
  { type: 'public' },
  { type: 'organizationPrivate' },
  { type: 'restricted', userIds: ['u1', 'u2'] },
  { type: 'restricted', userIds: ['u2', 'u3'] },
]

/** Adds threads with the ids `t0`, `t1` and so on, which `u0` began. */
async function addThreads(
  client: Client,
  documentId: string,
  threadCount: number,
  contentOf: (index: number) => { commentCount: number; visibility: Visibility },
): Promise<void> {
  for (let from = 0; from < threadCount; from += threadsPerCall) {
    const length = Math.min(threadsPerCall, threadCount - from)
    await client.commentAnnotations.add({
      organizationId,
      documentId,
      createDocument: true,
      commentAnnotations: Array.from({ length }, (_, i) => {
        const { commentCount, visibility } = contentOf(from + i)
        const commentData = Array.from({ length: commentCount }, (_, comment) => ({
          commentText,
          from: { userId: `u${comment % memberCount}` },
        }))
        return { annotationId: `t${from + i}`, commentData, visibility }
      }),
    })
  }
}

/** A case that adds a comment to a public thread. The threads of a case share a document. */
function additionCase(
  documentId: string,
  fields: Pick<Case, 'name' | 'title' | 'caller' | 'startsJobs'>,
): Case {
  let threadCount = 1
  return {
    ...fields,
    path: '/v2/commentannotations/comments/add',
    body: (n) =>
      body({
        organizationId,
        documentId,
        annotationId: `t${n % threadCount}`,
        commentData: [{ commentText, ...(!fields.caller && { from: { userId: 'u1' } }) }],
      }),
    share: 0.25,
    async prepare(client, requestCount) {
      threadCount = Math.ceil(requestCount / maxAddedPerThread)
      await addThreads(client, documentId, threadCount, () => ({
        commentCount: 1,
        visibility: { type: 'public' },
      }))
    },
  }
}

/** A case that reads the newest 50 threads that a user may see, each with 10 comments. */
function pageCase(documentId: string, threadCount: number, fields: Pick<Case, 'name' | 'title'>): Case {
  const page = body({ organizationId, documentId, pageSize: 50 })
  return {
    ...fields,
    path: '/v2/commentannotations/get',
    body: () => page,
    share: 0.025,
    caller: 'user',
    prepare: (client) =>
      addThreads(client, documentId, threadCount, (index) => ({
        commentCount: commentsPerThread,
        visibility: visibilities[index % visibilities.length]!,
      })),
  }
}

export const commentCases: Case[] = [
  additionCase('added-by-key', { name: 'comment', title: 'Add Comment' }),
  additionCase('added-by-user', {
    name: 'userComment',
    title: 'Add Comment, with a user token',
    caller: 'user',
    startsJobs: true,
  }),
  pageCase('few-threads', 100, { name: 'threads', title: 'Get Comment Annotations, 50 of 100 threads' }),
  pageCase('many-threads', 10_000, {
    name: 'manyThreads',
    title: 'Get Comment Annotations, 50 of 10,000 threads',
  }),
]
