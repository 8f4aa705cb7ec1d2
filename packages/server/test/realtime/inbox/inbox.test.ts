import { limits } from '@plenum/protocol/realtime'
import { describe, expect, test } from 'vitest'
import { eventually } from '../../support/clients/convergence.ts'
import { interruptibleNetwork, plenumConnection } from '../../support/clients/plenum-client.ts'
import { RealtimeSocket } from '../../support/clients/realtime-socket.ts'
import * as given from '../../support/given.ts'
import { stores, useServer } from '../../support/harness.ts'
import { tokenFor } from '../../support/access/user-tokens.ts'

const organizationId = 'org_1'
const documentId = 'doc_1'

describe.each(stores)('the inbox on sockets on %s', (store) => {
  const server = useServer(store)

  async function scene() {
    const tenant = await given.tenant(server)
    await given.document(tenant)
    const { client } = tenant
    const connect = async (userId: string) => RealtimeSocket.connect(server, await tokenFor(tenant, userId))
    const inboxOf = async (userId: string, options: object = {}) => {
      const connection = plenumConnection(client, await tokenFor(tenant, userId), options)
      const inbox = connection.inbox(organizationId)
      const unsubscribe = inbox.subscribe(() => {})
      await eventually(() => inbox.isLoading).toBe(false)
      return { inbox, connection, unsubscribe }
    }
    /** Adds a notification for the users and returns its id. */
    const notify = async (text: string, ...userIds: string[]) => {
      const { data } = await client.notifications.add({
        organizationId,
        documentId,
        actionUser: { userId: 'bob' },
        displayHeadlineMessageTemplate: '{actionUser} says',
        displayBodyMessage: text,
        notifyUsers: userIds.map((userId) => ({ userId })),
        notifyAll: false,
      })
      return (data as { id: string }).id
    }
    return { ...tenant, connect, inboxOf, notify }
  }
  const changed = { type: 'inboxChanged', organizationId }
  const texts = ({ notifications }: { notifications: readonly { displayBodyMessage?: string }[] }) =>
    notifications.map(({ displayBodyMessage }) => displayBodyMessage)

  test('[R55] a client that opened its inbox is told of every change of it, and nobody else is', async () => {
    const { connect, notify, client } = await scene()
    const [ada, grace, vera] = [await connect('ada'), await connect('grace'), await connect('vera')]
    for (const user of [ada, grace]) {
      user.send({ type: 'openInbox', id: 1, organizationId })
      expect(await user.take('done')).toEqual({ type: 'done', id: 1 })
    }
    const id = await notify('hello', 'ada')
    expect(await ada.take('inboxChanged')).toEqual(changed)
    await client.notifications.update({ organizationId, notifications: { id, readByUserIds: ['ada'] } })
    expect(await ada.take('inboxChanged')).toEqual(changed)
    await client.notifications.delete({ organizationId, userId: 'ada' })
    expect(await ada.take('inboxChanged')).toEqual(changed)

    ada.send({ type: 'closeInbox', organizationId })
    await ada.settled()
    await notify('again', 'ada', 'grace')
    expect(await grace.take('inboxChanged')).toEqual(changed)
    for (const user of [ada, grace, vera]) {
      await user.settled()
      expect(user.messages).toEqual([])
    }
  })

  test('[R55.1] an inbox is opened with a valid id, by users only, and a connection has at most 100 of them open', async () => {
    const { connect, headers } = await scene()
    const ada = await connect('ada')
    const refused = async (socket: RealtimeSocket, id: string) => {
      socket.send({ type: 'openInbox', id: 1, organizationId: id })
      return socket.take('error')
    }
    expect(await refused(ada, '\u0000')).toMatchObject({ id: 1, status: 'INVALID_ARGUMENT' })
    for (let id = 0; id < limits.inboxes; id++)
      ada.send({ type: 'openInbox', id, organizationId: `org_${id}` })
    expect(await refused(ada, 'one_more')).toEqual({
      type: 'error',
      id: 1,
      status: 'RESOURCE_EXHAUSTED',
      message: 'A connection has at most 100 inboxes open.',
    })
    ada.send({ type: 'closeInbox', organizationId: 'org_0' })
    ada.send({ type: 'openInbox', id: 500, organizationId: 'one_more' })
    expect(await ada.take('done', { id: 500 })).toEqual({ type: 'done', id: 500 })
    const backend = new RealtimeSocket(server, { headers })
    await backend.take('ready')
    expect(await refused(backend, organizationId)).toMatchObject({
      status: 'PERMISSION_DENIED',
      message: 'A backend has no inbox.',
    })
  })

  test('[K18] [K18.1] an inbox shows what arrives, what another tab reads, and what was missed while offline', async () => {
    const { inboxOf, notify } = await scene()
    const network = interruptibleNetwork()
    const { inbox, connection } = await inboxOf('ada', { WebSocket: network.WebSocket })
    const { inbox: otherTab } = await inboxOf('ada')
    await notify('first', 'ada')
    await eventually(() => texts(inbox)).toEqual(['first'])
    await eventually(() => otherTab.unreadCount).toBe(1)
    await inbox.markRead(...inbox.notifications.map((one) => one.id))
    expect(inbox).toMatchObject({ unreadCount: 0, notifications: [{ isUnread: false, forYou: true }] })
    await eventually(() => otherTab.unreadCount).toBe(0)

    network.cut()
    await eventually(() => connection.status).toBe('reconnecting')
    await notify('second', 'ada')
    network.restore(connection)
    await eventually(() => texts(inbox)).toEqual(['second', 'first'])
    expect(inbox.unreadCount).toBe(1)
  })

  test('[K18] an inbox without subscribers is closed at the server, and is loaded again with the next one', async () => {
    const { inboxOf, notify } = await scene()
    const { inbox, connection, unsubscribe } = await inboxOf('ada')
    unsubscribe()
    unsubscribe()
    await notify('unseen', 'ada')
    // The answer comes behind everything that the server sent before.
    await connection.operations.notifications.get({ organizationId, userId: 'ada' })
    expect(texts(inbox)).toEqual([])
    inbox.subscribe(() => {})
    await eventually(() => texts(inbox)).toEqual(['unseen'])
  })

  test('[K18.2] an inbox loads the newest 50 notifications, and older ones on demand', async () => {
    const { inboxOf, notify } = await scene()
    for (let number = 1; number <= 60; number++) await notify(`n${number}`, 'ada')
    const { inbox } = await inboxOf('ada')
    expect(inbox).toMatchObject({ hasMore: true, unreadCount: 50 })
    expect(texts(inbox)[0]).toBe('n60')
    await inbox.loadMore()
    expect(inbox).toMatchObject({ hasMore: false, unreadCount: 60 })
    await notify('n61', 'ada')
    await eventually(() => inbox.notifications.length).toBe(61)
  })

  test('[K18] an inbox that cannot be loaded says why, and a closed connection loads nothing', async () => {
    const { inboxOf, connect: _, ...tenant } = await scene()
    const { inbox, connection } = await inboxOf('ada')
    await expect(inbox.markRead('')).rejects.toMatchObject({ status: 'INVALID_ARGUMENT' })
    connection.close()
    await expect(inbox.markRead('n')).rejects.toMatchObject({ status: 'ABORTED' })
    const ended = plenumConnection(tenant.client, 'no token').inbox(organizationId)
    ended.subscribe(() => {})
    await eventually(() => ended.error?.status).toBe('UNAUTHENTICATED')
    expect(ended.isLoading).toBe(false)
  })
})
