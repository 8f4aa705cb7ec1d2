import type { User } from '@plenum/protocol'
import { expect, test } from 'vitest'
import { withDataProtection } from './data-protection.ts'
import { usersNamedIn } from '../../store/erasures/named-users.ts'
import { advancedPayload, basicPayload } from './payloads.ts'
import type { WebhookData } from './webhook-data.ts'

const user = (userId: string): User => ({
  userId,
  name: `Name of ${userId}`,
  email: `${userId}@secret.example`,
  initial: `I${userId}`,
  color: '#123456',
})

const reaction = {
  annotationId: 'r1',
  type: 'reaction' as const,
  icon: 'HEART',
  fromUsers: [{ from: user('reacting'), lastUpdated: 1 }],
  commentAnnotationId: 'a1',
  lastUpdated: 1,
}

const comment = {
  commentId: 7,
  type: 'text' as const,
  commentText: 'private words for {{braced}}',
  commentHtml: '<p>private words</p>',
  from: user('author'),
  to: [user('mentioned')],
  taggedUserContacts: [{ text: '@Name of tagged', userId: 'tagged', contact: user('tagged') }],
  status: 'added' as const,
  attachments: [],
  recorders: [],
  reactionAnnotationIds: ['r1'],
  reactionAnnotations: [reaction],
  createdAt: 1,
  lastUpdated: '1970-01-01T00:00:00.001Z',
}

const data: WebhookData = {
  event: 'comment.add',
  webhookId: 'msg_1',
  platform: 'sdk',
  actionUser: user('actor'),
  commentAnnotation: {
    annotationId: 'a1',
    annotationNumber: 1,
    comments: [comment],
    from: user('author'),
    assignedTo: user('assignee'),
    resolvedByUserId: 'resolver',
    resolvedByUser: user('resolver'),
    involvedUserIds: ['author', 'mentioned'],
    mentionedUserIds: ['mentioned'],
    subscribedUsers: { hash: { user: user('subscriber'), type: 'manual' } },
    visibilityConfig: { type: 'restricted', userIds: ['viewer'] },
  } as never,
  targetComment: comment,
  visibility: { type: 'restricted', userIds: ['viewer'] },
  metadata: {
    apiKey: 'key_1',
    organizationId: 'org_1',
    documentId: 'doc_1',
    document: { documentId: 'doc_1', documentName: 'Plan', ownerAddress: 'owner@secret.example' },
    organization: { organizationId: 'org_1', organizationName: 'Acme', admin: user('admin') },
  },
  usersOrganizationNotificationsConfig: { choosing: { inbox: 'ALL', email: 'MINE' } },
  accessDeniedUsers: ['denied'],
}

const content: WebhookData = {
  event: 'crdt.update_data',
  webhookId: 'msg_2',
  platform: 'rest',
  crdtData: {
    id: 'e1',
    data: 'Hello',
    lastUpdatedBy: 'writer',
    sessionId: null,
    lastUpdate: '2026-01-01T00:00:00.000Z',
  },
  metadata: data.metadata,
  accessDeniedUsers: [],
}

test('[24.6] the payload of an endpoint has the dotted name, and everything about the event in data', () => {
  const { actionUser, commentAnnotation, targetComment, visibility } = data
  const { document, organization } = data.metadata
  expect(advancedPayload(data)).toEqual({
    event: 'comment.add',
    actionType: 'add',
    source: 'comment',
    platform: 'sdk',
    webhookId: 'msg_1',
    data: {
      actionUser,
      commentAnnotation,
      targetComment,
      visibility,
      metadata: { apiKey: 'key_1', document, organization, pageInfo: {} },
    },
    usersOrganizationNotificationsConfig: { choosing: { inbox: 'ALL', email: 'MINE' } },
  })
  expect(advancedPayload(content)).toMatchObject({
    event: 'crdt.update_data',
    actionType: 'updateData',
    source: 'crdt',
    data: { crdtData: content.crdtData },
  })
})

test('[24.5] a basic payload has the grouped name, and only a processed one says what concerns users', () => {
  const raw = basicPayload(data, 'raw')
  expect(raw).toMatchObject({
    webhookId: 'msg_1',
    actionType: 'added',
    notificationSource: 'comment',
    platform: 'sdk',
    commentAnnotation: { annotationId: 'a1' },
    metadata: { documentId: 'doc_1', documentName: 'Plan', clientDocumentId: 'doc_1', pageInfo: {} },
  })
  expect(Object.keys(raw)).not.toContain('event')
  const forUsers = {
    usersOrganizationNotificationsConfig: { choosing: { inbox: 'ALL', email: 'MINE' } },
    accessDeniedUsers: ['denied'],
  }
  expect(basicPayload(data, 'processed')).toEqual({ ...raw, ...forUsers })
  for (const name of Object.keys(forUsers)) expect(raw).not.toHaveProperty(name)
  expect(basicPayload(content, 'raw')).toMatchObject({
    actionType: 'updateData',
    notificationSource: 'crdt',
    crdtData: content.crdtData,
  })
})

test('[24.5.8] with data protection, no payload has a text of a comment, a name, an initial or an email address', () => {
  for (const payload of [advancedPayload(data), basicPayload(data, 'raw'), basicPayload(data, 'processed')]) {
    const text = JSON.stringify(withDataProtection(payload))
    for (const hidden of ['private words', 'Name of', '@secret.example', '"I', '@Name']) {
      expect(JSON.stringify(payload)).toContain(hidden)
      expect(text).not.toContain(hidden)
    }
    for (const userId of ['actor', 'author', 'mentioned', 'tagged', 'reacting', 'subscriber', 'assignee'])
      expect(text).toContain(`{"userId":"${userId}"}`)
    for (const kept of ['"annotationId":"a1"', '"commentId":7', 'HEART', 'Plan', 'Acme'])
      expect(text).toContain(kept)
  }
})

test('[24.5.8] with data protection, email addresses that are ids of users stay', () => {
  const ids = { accessDeniedUsers: ['a@b.example'], resolvedByUserId: 'a@b.example' }
  expect(withDataProtection({ ...ids, ownerAddress: 'a@b.example' })).toEqual(ids)
})

test('[24.5.9] the users whom a webhook names are found in every place', () => {
  const named = ['actor', 'author', 'assignee', 'resolver', 'mentioned', 'tagged', 'braced', 'reacting']
  const listed = ['subscriber', 'viewer', 'admin', 'choosing', 'denied']
  expect([...usersNamedIn(data)].sort()).toEqual([...named, ...listed].sort())
  expect(usersNamedIn(content)).toContain('writer')
})
