import { describe, expect, test } from 'vitest'
import * as given from '../../support/given.ts'
import { stores, useServer } from '../../support/harness.ts'

describe.each(stores)('isolation of notifications on %s', (store) => {
  const server = useServer(store)

  test('[0.2.1] two API keys have separate notifications', async () => {
    const mine = await given.tenant(server)
    const theirs = await given.tenant(server)
    const id = await given.notification(mine, { notificationId: 'same' })
    await given.notification(theirs, { notificationId: 'same', displayBodyMessage: 'Theirs' })
    await theirs.client.notifications.update({
      organizationId: 'org_1',
      notifications: { id, readByUserIds: ['u1'], displayBodyMessage: 'Changed' },
    })
    await theirs.client.notifications.delete({ organizationId: 'org_1', documentId: 'doc_1' })
    const { data } = await mine.client.notifications.get({ organizationId: 'org_1', userId: 'u1' })
    expect(data).toMatchObject([{ id, displayBodyMessage: 'Ready for review.', isUnread: true }])
  })
})
