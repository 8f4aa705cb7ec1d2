import { describe, expect, test } from 'vitest'
import * as given from '../../support/given.ts'
import { stores, useServer } from '../../support/harness.ts'

const organizationId = 'org_1'
const documentId = 'doc_1'
const ref = { organizationId, documentId }

describe.each(stores)('a renamed user on %s', (store) => {
  const server = useServer(store)

  async function scene() {
    const tenant = await given.tenant(server)
    const { client } = tenant
    await given.document(tenant)
    const users = [
      { userId: 'ada', name: 'Ada', email: 'ada@old.example' },
      { userId: 'grace', name: 'Grace' },
      { userId: 'nameless' },
    ]
    await client.users.add({ organizationId, users })
    await client.activityConfig.update({ activityServiceConfig: { isEnabled: true } })
    const rename = () =>
      client.users.update({
        organizationId,
        users: [
          { userId: 'ada', name: 'Ada King', email: 'ada@new.example', photoUrl: 'https://x.example/a' },
        ],
      })
    return { ...tenant, rename }
  }

  test('[12.3.1] a renamed user has the new name in notifications that the user caused, and no fields that were not sent', async () => {
    const { client, rename } = await scene()
    const actionUser = { userId: 'ada', name: 'Ada', email: 'ada@old.example', team: 'x' }
    await client.notifications.add({
      ...ref,
      actionUser,
      displayHeadlineMessageTemplate: '{actionUser} asked {recipientUser}',
      displayHeadlineMessageTemplateData: {
        actionUser: { userId: 'ada', name: 'Ada' },
        recipientUser: { userId: 'grace', name: 'Grace' },
        task: 'Ada',
      },
      displayBodyMessage: 'x',
      notifyUsers: [{ userId: 'grace' }],
    })
    await client.notifications.add({
      ...ref,
      actionUser: { userId: 'nameless', name: 'As sent' },
      displayHeadlineMessageTemplate: '{actionUser}',
      displayBodyMessage: 'x',
      notifyUsers: [{ userId: 'grace' }],
    })
    await client.commentAnnotations.add({
      ...ref,
      commentAnnotations: [
        { commentData: [{ commentText: '{{grace}}', from: { userId: 'ada' }, triggerNotification: true }] },
      ],
    })
    const inbox = async () =>
      (await client.notifications.get({ organizationId, userId: 'grace', order: 'asc' })).data
    await expect.poll(async () => (await inbox()).length).toBe(3)
    await rename()
    const [custom, nameless, comment] = await inbox()
    expect(custom?.actionUser).toEqual({
      userId: 'ada',
      name: 'Ada King',
      email: 'ada@new.example',
      team: 'x',
    })
    expect(custom?.displayHeadlineMessageTemplateData).toEqual({
      actionUser: { userId: 'ada', name: 'Ada King' },
      recipientUser: { userId: 'grace', name: 'Grace' },
      task: 'Ada',
    })
    expect(nameless?.actionUser).toEqual({ userId: 'nameless', name: 'As sent' })
    expect(comment?.actionUser).toMatchObject({ name: 'Ada King' })
    expect(comment?.displayHeadlineMessageTemplateData?.actionUser).toMatchObject({ name: 'Ada King' })
  })

  test('[12.3.1] a renamed user has the new name in activities', async () => {
    const { client, rename } = await scene()
    const activities = [
      { featureType: 'comment' as const, actionType: 'x', actionUser: { userId: 'ada', name: 'Ada' } },
      { featureType: 'comment' as const, actionType: 'x', actionUser: { userId: 'gone', name: 'As sent' } },
    ]
    await client.activities.add({ ...ref, activities })
    await rename()
    const { data } = await client.activities.get({ organizationId, order: 'asc' })
    expect(data.map(({ actionUser }) => actionUser)).toEqual([
      { userId: 'ada', name: 'Ada King' },
      { userId: 'gone', name: 'As sent' },
    ])
  })
})
