/** Organizations, documents, users and notifications: kinds that are read as lists. */
import { sql } from 'kysely'
import { type Case, type Kind, openCase, restCase, type TenantServer } from './case.ts'
import { around, randomIdOf, someOf } from './rows.ts'

const pageSize = 20
/** How many items a filter finds, among all. */
const foundCount = 20
/** Deletions per round. What they delete is created before each round. */
const deletionsPerRound = 10
/** Two of each kind are created through REST: the original of all copies, and another one, so that there is a next page. */
const createdCount = 2
const victim = (n: number) => `victim-${n}`
const organizationId = 'org'

interface ListPages {
  title?: string
  path: string
  filter: object
  nextPageToken: string | undefined
}

/** The first page of a list, and a page in its middle. */
const pagesOf = (
  server: TenantServer,
  { title = '', path, filter, nextPageToken }: ListPages,
): [Case, Case] => [
  restCase(server, {
    title: `first page${title}`,
    path,
    data: () => ({ ...filter, pageSize }),
    minItems: pageSize,
  }),
  restCase(server, {
    title: `page in the middle${title}`,
    path,
    data: () => ({ ...filter, pageSize, pageToken: nextPageToken }),
    minItems: pageSize,
  }),
]

export const organizations: Kind = {
  name: 'organizations',
  async prepare({ apiKey, client }) {
    const names = ['first', 'second']
    await client.organizations.add({
      organizations: names.map((name) => ({ organizationId: name, organizationName: name, plan: 'team' })),
    })
    const { nextPageToken } = await client.organizations.get({ pageSize: 1 })
    return {
      async fill(rows, count) {
        const copies = count - createdCount
        const changes = {
          organization_id: rows.id,
          created_at: around('created_at', copies),
          last_updated: around('last_updated', copies),
        }
        await rows.copy('organizations', { api_key: apiKey, organization_id: 'first' }, changes, copies)
      },
      cases(server, count) {
        const path = '/v2/organizations/get'
        const randomId = () => randomIdOf(count - createdCount)
        return [
          restCase(server, {
            title: 'read one by id',
            path,
            data: () => ({ organizationIds: [randomId()] }),
            minItems: 1,
          }),
          restCase(server, {
            title: 'read 30 by id',
            path,
            data: () => ({ organizationIds: Array.from({ length: 30 }, randomId) }),
            minItems: 20,
          }),
          ...pagesOf(server, { path, filter: {}, nextPageToken }),
          restCase(server, {
            title: 'delete one',
            path: '/v2/organizations/delete',
            maxRequests: deletionsPerRound,
            before: (numbers) =>
              server.client.organizations.add({
                organizations: numbers.map((n) => ({ organizationId: victim(n), organizationName: 'x' })),
              }),
            data: (n) => ({ organizationIds: [victim(n)] }),
          }),
        ]
      },
    }
  },
}

export const documents: Kind = {
  name: 'documents',
  async prepare({ apiKey, client }) {
    await client.folders.add({ organizationId, createOrganization: true, folders: [{ folderId: 'folder' }] })
    const names = ['first', 'second']
    await client.documents.add({
      organizationId,
      documents: names.map((name) => ({ documentId: name, documentName: name, language: 'en' })),
    })
    const { nextPageToken } = await client.documents.get({ organizationId, pageSize: 1 })
    return {
      async fill(rows, count) {
        const copies = count - createdCount
        const changes = {
          document_id: rows.id,
          folder_id: sql`case when ${someOf(copies, foundCount)} then 'folder' end`,
          created_at: around('created_at', copies),
          last_updated: around('last_updated', copies),
        }
        await rows.copy('documents', { api_key: apiKey, document_id: 'first' }, changes, copies)
      },
      cases(server, count) {
        const path = '/v2/organizations/documents/get'
        const randomId = () => randomIdOf(count - createdCount)
        return [
          restCase(server, {
            title: 'read one by id',
            path,
            data: () => ({ organizationId, documentIds: [randomId()] }),
            minItems: 1,
          }),
          restCase(server, {
            title: 'read 30 by id',
            path,
            data: () => ({ organizationId, documentIds: Array.from({ length: 30 }, randomId) }),
            minItems: 20,
          }),
          ...pagesOf(server, { path, filter: { organizationId }, nextPageToken }),
          restCase(server, {
            title: `a folder with ${foundCount}`,
            path,
            data: () => ({ organizationId, folderId: 'folder', pageSize }),
            minItems: 15,
          }),
          restCase(server, {
            title: 'first page of those in no folder',
            path,
            data: () => ({ organizationId, folderId: 'root', pageSize }),
            minItems: pageSize,
          }),
          restCase(server, {
            title: 'delete one',
            path: '/v2/organizations/documents/delete',
            maxRequests: deletionsPerRound,
            before: (numbers) =>
              server.client.documents.add({
                organizationId,
                documents: numbers.map((n) => ({ documentId: victim(n), documentName: 'x' })),
              }),
            data: (n) => ({ organizationId, documentIds: [victim(n)] }),
          }),
          openCase(server, {
            title: 'open an empty editor in one',
            room: () => `${organizationId}/${randomId()}/text`,
            maxRequests: 20,
          }),
        ]
      },
    }
  },
}

export const users: Kind = {
  name: 'users',
  async prepare({ apiKey, client }) {
    const names = ['first', 'second']
    await client.users.add({
      organizationId,
      users: names.map((name) => ({ userId: name, name, email: `${name}@example.com` })),
    })
    const groups = { small: foundCount, large: 100, all: Infinity }
    for (const groupId of Object.keys(groups)) {
      await client.userGroups.add({
        organizationId,
        organizationUserGroups: [{ groupId, groupName: groupId }],
      })
      await client.userGroups.addUsers({
        organizationId,
        organizationUserGroupId: groupId,
        userIds: ['first'],
      })
    }
    await client.users.add({
      organizationId,
      documentId: 'doc',
      createDocument: true,
      users: [{ userId: 'first', name: 'first', email: 'first@example.com' }],
    })
    const { nextPageToken } = await client.users.get({ organizationId, pageSize: 1 })
    return {
      async fill(rows, count) {
        const copies = count - createdCount
        const which = { api_key: apiKey, user_id: 'first' }
        const user_id = rows.id
        const created_at = around('created_at', copies)
        const email = sql`${user_id} || '@example.com'`
        const profile = sql`replace(profile, 'first@example.com', ${email})`
        await rows.copy('users', which, { user_id, email, profile, created_at }, copies)
        await rows.copy(
          'grants',
          { ...which, resource_type: 'organization' },
          { user_id, created_at, set_at: around('set_at', copies) },
          copies,
        )
        await rows.copy(
          'grants',
          { ...which, resource_type: 'document' },
          { user_id, created_at },
          copies,
          someOf(copies, foundCount, 1),
        )
        for (const [groupId, members] of Object.entries(groups)) {
          const isMember = someOf(copies, members)
          await rows.copy(
            'user_group_members',
            { ...which, group_id: groupId },
            { user_id },
            copies,
            isMember,
          )
        }
      },
      cases(server, count) {
        const path = '/v2/users/get'
        const randomId = () => randomIdOf(count - createdCount)
        const byGroup = (groupId: keyof typeof groups) =>
          restCase(server, {
            title: `first page of a group with ${groupId === 'all' ? 'all' : groups[groupId]}`,
            path,
            data: () => ({ organizationId, organizationUserGroupIds: [groupId], pageSize }),
            minItems: 15,
          })
        return [
          restCase(server, {
            title: 'read one by id',
            path,
            data: () => ({ organizationId, userIds: [randomId()] }),
            minItems: 1,
          }),
          restCase(server, {
            title: 'read 30 by id',
            path,
            data: () => ({ organizationId, userIds: Array.from({ length: 30 }, randomId) }),
            minItems: 20,
          }),
          ...pagesOf(server, { path, filter: { organizationId }, nextPageToken }),
          byGroup('small'),
          byGroup('large'),
          byGroup('all'),
          restCase(server, {
            title: `those of a document with ${foundCount}`,
            path,
            data: () => ({ organizationId, documentId: 'doc', pageSize }),
            minItems: 15,
          }),
          restCase(server, {
            title: 'delete one',
            path: '/v2/users/delete',
            maxRequests: deletionsPerRound,
            before: (numbers) =>
              server.client.users.add({ organizationId, users: numbers.map((n) => ({ userId: victim(n) })) }),
            data: (n) => ({ organizationId, userIds: [victim(n)] }),
          }),
        ]
      },
    }
  },
}

export const notifications: Kind = {
  name: 'notifications',
  async prepare({ apiKey, client }) {
    const notify = (to: TenantServer['client'], notificationId: string, documentId: string) =>
      to.notifications.add({
        organizationId,
        documentId,
        notificationId,
        createOrganization: true,
        createDocument: true,
        actionUser: { userId: 'author', name: 'Ada' },
        displayHeadlineMessageTemplate: '{actionUser} finished {task}',
        displayHeadlineMessageTemplateData: { actionUser: { userId: 'author', name: 'Ada' }, task: 'it' },
        displayBodyMessage: 'The draft is ready for review.',
        notifyUsers: [{ userId: 'reader' }],
        notifyAll: false,
      })
    for (const name of ['first', 'second']) await notify(client, name, 'doc')
    await notify(client, 'elsewhere', 'rare')
    const ofDocument = { organizationId, documentId: 'doc' }
    const ofUser = { organizationId, userId: 'reader' }
    const tokens = {
      document: (await client.notifications.get({ ...ofDocument, pageSize: 1 })).nextPageToken,
      user: (await client.notifications.get({ ...ofUser, pageSize: 1 })).nextPageToken,
    }
    return {
      async fill(rows, count) {
        const copies = count - createdCount
        const first = { api_key: apiKey, public_id: 'first' }
        const { notification_id: key } = await rows.find('notifications', first)
        const notification_id = sql`${rows.id} || '!' || ${rows.id}`
        const timestamp = around('timestamp', copies)
        const isIn = (offset: number) => someOf(copies, foundCount, offset)
        await rows.copy(
          'notifications',
          first,
          {
            notification_id,
            public_id: rows.id,
            timestamp,
            document_id: sql`case when ${isIn(1)} then 'rare' else 'doc' end`,
            location_id: sql`case when ${isIn(2)} then 'rare' end`,
          },
          copies,
        )
        await rows.copy(
          'notification_recipients',
          { api_key: apiKey, notification_id: String(key) },
          { notification_id, timestamp, recipient: sql`case when ${isIn(3)} then 'rare' else recipient end` },
          copies,
        )
      },
      cases(server, count) {
        const path = '/v2/notifications/get'
        const randomId = () => randomIdOf(count - createdCount)
        const filtered = (title: string, filter: object) =>
          restCase(server, {
            title,
            path,
            data: () => ({ organizationId, ...filter, pageSize }),
            minItems: 15,
          })
        return [
          restCase(server, {
            title: 'read one by id',
            // v2 would require the document or the user.
            path: '/v1/notifications/get',
            data: () => ({ organizationId, notificationIds: [randomId()] }),
            minItems: 1,
          }),
          restCase(server, {
            title: 'read 30 of a document by id',
            path,
            data: () => ({ ...ofDocument, notificationIds: Array.from({ length: 30 }, randomId) }),
            minItems: 10,
          }),
          restCase(server, {
            title: 'read 30 of a user by id',
            path,
            data: () => ({ ...ofUser, notificationIds: Array.from({ length: 30 }, randomId) }),
            minItems: 10,
          }),
          ...pagesOf(server, {
            title: ' of a document',
            path,
            filter: ofDocument,
            nextPageToken: tokens.document,
          }),
          ...pagesOf(server, { title: ' of a user', path, filter: ofUser, nextPageToken: tokens.user }),
          filtered(`a user with ${foundCount}`, { userId: 'rare' }),
          filtered(`a location with ${foundCount}`, { documentId: 'doc', locationId: 'rare' }),
          filtered(`a user with all and a document with ${foundCount}`, {
            userId: 'reader',
            documentId: 'rare',
          }),
          restCase(server, {
            title: 'delete one',
            path: '/v2/notifications/delete',
            maxRequests: deletionsPerRound,
            async before(numbers) {
              for (const n of numbers) await notify(server.client, victim(n), 'doc')
            },
            data: (n) => ({ organizationId, notificationIds: [victim(n)] }),
          }),
        ]
      },
    }
  },
}
