import { describe, expect, test } from 'vitest'
import { stores, useServer } from '../../support/harness.ts'
import { organizationId, scene } from './scene.ts'

/** What a user chose for the organization and for the document, and what applies. */
const preferences = {
  default: { applies: 'ALL' },
  all: { organization: 'ALL', applies: 'ALL' },
  mine: { organization: 'MINE', applies: 'MINE' },
  none: { organization: 'NONE', applies: 'NONE' },
  opened: { organization: 'NONE', document: 'ALL', applies: 'ALL' },
  closed: { organization: 'ALL', document: 'NONE', applies: 'NONE' },
} as const
type Preference = keyof typeof preferences

/** How users are related to the annotation, and whether they follow it. Members are in the organization. */
const relations = {
  commented: { follows: true, isMember: true },
  mentioned: { follows: true, isMember: true },
  assigned: { follows: true, isMember: true },
  subscribed: { follows: true, isMember: true },
  unsubscribed: { follows: false, isMember: true },
  uninvolved: { follows: undefined, isMember: true },
  guest: { follows: true, isMember: false },
  stranger: { follows: undefined, isMember: false },
} as const
type Relation = keyof typeof relations

interface User {
  userId: string
  preference: Preference
  relation: Relation
}
const users: User[] = (Object.keys(preferences) as Preference[]).flatMap((preference) =>
  (Object.keys(relations) as Relation[]).map((relation) => ({
    userId: `${preference}-${relation}`,
    preference,
    relation,
  })),
)
const named = users.filter(({ relation }) => relation === 'commented' || relation === 'uninvolved')

/** Who may see the annotation. */
const visibilities: { id: string; fields: object; sees: (user: User) => boolean }[] = [
  { id: 'public', fields: {}, sees: () => true },
  {
    id: 'members',
    fields: { visibility: { type: 'organizationPrivate' } },
    sees: ({ relation }) => relations[relation].isMember,
  },
  {
    id: 'restricted',
    fields: { visibility: { type: 'restricted', userIds: named.map(({ userId }) => userId) } },
    sees: (user) => named.includes(user),
  },
  {
    id: 'context',
    fields: { context: { access: { team: 'red' } } },
    sees: ({ relation }) => relation === 'mentioned' || relation === 'guest',
  },
]

/** One annotation has one assignee: of the users who are assigned one after the other, the last one (rule 19.3.4). */
const assignee = users.find(({ userId }) => userId === 'mine-assigned') as User
const follows = (user: User) =>
  user.relation === 'assigned' && user !== assignee ? undefined : relations[user.relation].follows

/** Who is notified by the rules: an oracle that shares no code with the server. */
function isNotified(user: User): boolean {
  const { applies } = preferences[user.preference]
  const { isMember } = relations[user.relation]
  if (applies === 'NONE' || follows(user) === false) return false
  return follows(user) === true || (applies === 'ALL' && isMember)
}

const of = (wanted: Relation) => users.filter(({ relation }) => relation === wanted)
const idsOf = (some: readonly User[]) => some.map(({ userId }) => userId)

describe.each(stores)('the recipients of an event on %s', (store) => {
  const server = useServer(store)
  /** The inbox of each user after news about all annotations. Each annotation is in a document of its own. */
  async function receiveNews() {
    const members = users.filter(({ relation }) => relations[relation].isMember)
    const { client, reply, inboxOf, addThread } = await scene(server, ['ada', ...idsOf(members)])
    const outside = users.filter((user) => !members.includes(user))
    const field = { type: 'context' as const, id: 'team:red', organizationId }
    const elsewhere = { type: 'folder' as const, id: 'elsewhere', organizationId }
    for (const { userId } of [...outside, ...of('mentioned')]) {
      const resources = [elsewhere, ...(/mentioned|guest/.test(userId) ? [field] : [])]
      await client.permissions.add({ user: { userId }, permissions: { resources } })
    }
    const documentIds = visibilities.map(({ id }) => id)
    await client.documents.add({
      organizationId,
      documents: documentIds.map((documentId) => ({ documentId })),
    })
    for (const name of Object.keys(preferences) as Preference[]) {
      const { organization, document } = preferences[name] as Record<string, 'ALL' | undefined>
      const userIds = idsOf(users.filter(({ preference }) => preference === name))
      const set = (inbox: 'ALL', where: object) =>
        client.notifications.setConfig({ organizationId, userIds, config: { inbox }, ...where })
      if (organization) await set(organization, {})
      if (document) await set(document, { documentIds })
    }
    const comments = [...of('commented'), ...of('guest'), ...of('unsubscribed')].map(({ userId }) => ({
      commentText: 'x',
      from: { userId },
    }))
    const mentions = of('mentioned').map(({ userId }) => `{{${userId}}}`)
    for (const { id, fields } of visibilities) {
      const place = { organizationId, documentId: id }
      await addThread(
        'a',
        {
          ...fields,
          commentData: [{ commentText: mentions.join(' '), from: { userId: 'ada' } }, ...comments],
        },
        place,
      )
      for (const user of [...of('assigned'), assignee]) {
        const updatedData = { assignedTo: { userId: user.userId } }
        await client.commentAnnotations.update({ ...place, annotationIds: ['a'], updatedData })
      }
      for (const { userId, relation } of [...of('subscribed'), ...of('unsubscribed')]) {
        const subscribed = relation === 'subscribed'
        await client.commentAnnotations.subscribe({ ...place, annotationId: 'a', userId, subscribed })
      }
      await reply('ada', 'news', { ...place, annotationId: 'a' })
      const ofDocument = async () => (await client.notifications.get({ ...place })).data.length
      await expect.poll(ofDocument, { timeout: 20_000 }).toBe(1)
    }
    const inboxes = new Map<string, Awaited<ReturnType<typeof inboxOf>>>()
    for (const userId of ['ada', ...idsOf(users)]) inboxes.set(userId, await inboxOf(userId))
    return { client, inboxes }
  }
  let received: ReturnType<typeof receiveNews> | undefined

  test.each(visibilities)(
    '[18.7] [18.7.1] [25.6] preference and involvement decide who is notified of a $id annotation, and nobody outside its audience is',
    async ({ id, sees }) => {
      const { client, inboxes } = await (received ??= receiveNews())
      const expected = users.filter((user) => isNotified(user) && sees(user))
      expect(expected.length).toBeGreaterThan(3)
      // The backend sees to whom it was sent. Reads for a user hide what the user may not see, so they do not show it.
      const [delivered] = (await client.notifications.get({ organizationId, documentId: id })).data
      const following = expected.filter((user) => follows(user) === true)
      expect(Object.keys(delivered?.notifyUsersByUserId ?? {}).length).toBe(following.length)
      const notified: User[] = []
      for (const user of users) {
        const found = inboxes.get(user.userId)!.filter(({ metadata }) => metadata?.documentId === id)
        if (found.length === 0) continue
        notified.push(user)
        expect(found).toMatchObject([
          { displayBodyMessage: 'news', isUnread: true, forYou: follows(user) === true },
        ])
      }
      expect(idsOf(notified)).toEqual(idsOf(expected))
      expect(inboxes.get('ada')).toEqual([])
    },
  )
})
