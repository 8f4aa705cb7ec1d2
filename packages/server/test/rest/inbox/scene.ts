import type { Client } from '@plenum/client'
import { expect } from 'vitest'
import * as given from '../../support/given.ts'
import type { TestServer } from '../../support/harness.ts'

export const organizationId = 'org_1'
export const documentId = 'doc_1'
export const annotationId = 'a1'
export const ref = { organizationId, documentId }

type Notifications = Awaited<ReturnType<Client['notifications']['get']>>['data']

/** A tenant with a document, users who are members, and a thread of Ada in the document that notified nobody. */
export async function scene(server: TestServer, members: readonly string[] = ['ada', 'grace']) {
  const tenant = await given.tenant(server)
  const { client } = tenant
  await given.document(tenant)
  await given.users(tenant, members)
  const addThread = (id = annotationId, fields: object = {}, place = ref) =>
    client.commentAnnotations.add({
      ...place,
      commentAnnotations: [
        { annotationId: id, commentData: [{ commentText: 'first', from: { userId: 'ada' } }], ...fields },
      ],
    })
  await addThread()
  const signIn = async (userId: string, resources: object[] = []): Promise<Client> => {
    const { data } = await client.auth.generateToken({
      userId,
      userProperties: { name: userId, email: `${userId}@example.com` },
      permissions: {
        resources: [{ type: 'organization', id: organizationId }, ...resources] as never,
      },
    })
    return server.client({ token: data.token })
  }
  /** A backend adds a comment, and asks to notify users. */
  const reply = async (userId: string, commentText = 'reply', place = { ...ref, annotationId }) => {
    const comment = { commentText, from: { userId }, triggerNotification: true }
    const { data } = await client.comments.add({ ...place, commentData: [comment] })
    return data[0] as number
  }
  const inboxOf = async (userId: string, filter: object = {}): Promise<Notifications> =>
    (await client.notifications.get({ organizationId, userId, ...filter })).data
  /** The bodies of the notifications of a user, oldest first. */
  const bodiesOf = async (userId: string) =>
    (await inboxOf(userId, { order: 'asc' })).map((one) => one.displayBodyMessage)
  const expectBodies = (userId: string, bodies: string[]) =>
    expect.poll(() => bodiesOf(userId)).toEqual(bodies)
  return { ...tenant, addThread, signIn, reply, inboxOf, bodiesOf, expectBodies }
}
