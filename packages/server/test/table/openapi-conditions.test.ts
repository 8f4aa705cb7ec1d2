import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as protocol from '@plenum/protocol'
import JsonSchema from 'typebox/schema'
import { beforeAll, describe, expect, test } from 'vitest'
import { createSchemas } from '../../src/http/openapi/schemas.ts'
import * as given from '../support/given.ts'
import { useServer } from '../support/harness.ts'

interface Described {
  description: string
  requestBody: { $ref: string }
}
interface Schema {
  $ref?: string
  properties?: Record<string, Schema>
}
interface Document {
  paths: Record<string, { post: Described }>
  components: {
    schemas: Record<string, Schema>
    requestBodies: Record<string, { content: { 'application/json': { schema: Schema } } }>
  }
}

const root = join(import.meta.dirname, '../../../..')
/** Another test compares the committed file with the operation table. */
const { paths, components } = JSON.parse(readFileSync(join(root, 'openapi.json'), 'utf8')) as Document

const bodyOf = (path: string) => {
  const name = paths[path]?.post.requestBody.$ref.split('/').at(-1) ?? ''
  return components.requestBodies[name]?.content['application/json'].schema as Schema
}
const accepts = (path: string, data: unknown) =>
  JsonSchema.Errors({ components, ...bodyOf(path) }, { data })[0]

const place = { organizationId: 'org_1', documentId: 'doc_1' }
const organizationId = 'org_1'
const userIds = ['user_1']
const texts = { displayHeadlineMessageTemplate: 'New', displayBodyMessage: 'Text' }
const notification = {
  ...place,
  actionUser: { userId: 'user_1' },
  createOrganization: true,
  createDocument: true,
}
const from = { userId: 'user_1' }
const annotation = (fields: object) => ({
  ...place,
  createOrganization: true,
  createDocument: true,
  commentAnnotations: [{ commentData: [{ commentText: 'Hi', from }], ...fields }],
})
const activity = { featureType: 'custom', actionType: 'task.finish', actionUser: { userId: 'user_1' } }
const editor = { ...place, editorId: 'editor_1' }
const permissions = (resource: object) => ({ resources: [{ id: 'doc_1', ...resource }] })

/** An input that breaks a condition, the message for it, and inputs that keep the condition. */
const conditions: [path: string, broken: object, message: string, ...kept: object[]][] = [
  [
    '/v2/workspace/emailconfig/update',
    {},
    'At least one of useEmailService or emailServiceConfig must be provided',
    { useEmailService: false },
  ],
  [
    '/v2/workspace/webhookconfig/update',
    {},
    'At least one of useWebhookService or webhookServiceConfig must be provided',
    { useWebhookService: false },
  ],
  [
    '/v2/workspace/advancedwebhookconfig/update',
    {},
    'At least one of isEnabled, encryptData, encodeData, publicKey or enableDataProtection must be provided.',
    { isEnabled: true },
  ],
  [
    '/v2/workspace/notificationconfig/update',
    {},
    'At least one of useNotificationService or notificationServiceConfig must be provided',
    { useNotificationService: true },
  ],
  [
    '/v2/workspace/permissionproviderconfig/update',
    {},
    'At least one of usePermissionProvider or permissionProviderConfig must be provided',
    { usePermissionProvider: false },
  ],
  [
    '/v2/workspace/activityconfig/update',
    { activityServiceConfig: {} },
    'At least one field must be provided for update',
    { activityServiceConfig: { isEnabled: true } },
  ],
  [
    '/v2/workspace/apikeyconfig/update',
    {},
    'At least one field must be provided for update',
    { requireJwtToken: true },
  ],
  [
    '/v2/workspace/apikeyconfig/update',
    { requireJwtToken: true, requireToken: true },
    'At least one field must be provided for update',
  ],
  [
    '/v2/workspace/advancedwebhook/endpoints/update',
    { endpointId: 'ep_1' },
    'At least one endpoint field besides endpointId must be provided.',
  ],
  [
    '/v2/workspace/deliveries/retry',
    {},
    'Either deliveryIds or failedSince must be provided.',
    { failedSince: 1 },
  ],
  [
    '/v2/workspace/deliveries/retry',
    { failedSince: 1, deliveryIds: ['dlv_1'] },
    'Either deliveryIds or failedSince must be provided.',
    { deliveryIds: ['dlv_1'] },
  ],
  [
    '/v2/auth/permissions/add',
    { permissions: permissions({ type: 'organization' }) },
    'user.userId is required.',
    { userId: 'user_1', permissions: permissions({ type: 'organization' }) },
    { user: { userId: 'user_1' }, permissions: permissions({ type: 'organization' }) },
  ],
  [
    '/v2/auth/permissions/remove',
    { userId: 'user_1', permissions: permissions({ type: 'document' }) },
    'permissions.resources[0].organizationId is required.',
    { userId: 'user_1', permissions: permissions({ type: 'document', organizationId }) },
  ],
  [
    '/v2/auth/permissions/explain',
    { organizationId, userId: 'user_1' },
    'Provide either documentId or folderId.',
    { ...place, userId: 'user_1', skipResourceExistenceValidation: true },
  ],
  [
    '/v2/auth/permissions/explain',
    { ...place, folderId: 'folder_1', userId: 'user_1' },
    'Provide either documentId or folderId.',
  ],
  [
    '/v2/organizations/folders/access/update',
    { organizationId, folderIds: ['folder_1'] },
    'accessType is required.',
    { organizationId, folderIds: ['folder_1'], inheritFromParent: true },
    { organizationId, folderIds: ['folder_1'], accessType: 'public' },
  ],
  [
    '/v1/organizations/folders/access/update',
    { organizationId, folderIds: ['folder_1'], inheritFromParent: true },
    'accessType is required.',
    { organizationId, folderIds: ['folder_1'], accessType: 'public' },
  ],
  [
    '/v2/users/add',
    { ...place, folderId: 'folder_1', users: [{ userId: 'user_1' }] },
    'Provide either documentId or folderId.',
    { ...place, createDocument: true, users: [{ userId: 'user_1' }] },
  ],
  [
    '/v2/organizations/usergroups/users/delete',
    { organizationId, organizationUserGroupId: 'group_1' },
    'Provide either userIds or deleteAll.',
  ],
  [
    '/v2/organizations/usergroups/users/delete',
    { organizationId, organizationUserGroupId: 'group_1', userIds, deleteAll: true },
    'Provide either userIds or deleteAll.',
  ],
  [
    '/v2/crdt/add',
    { ...editor, type: 'text', data: {} },
    'Data must be a string for type text.',
    { ...editor, type: 'text', data: 'Hi' },
  ],
  ['/v2/crdt/add', { ...editor, type: 'xml', data: [] }, 'Data must be a string for type xml.'],
  [
    '/v2/crdt/add',
    { ...editor, type: 'map', data: 'Hi' },
    'Data must be an object for type map.',
    { ...editor, editorId: 'editor_2', type: 'map', data: { a: 1 } },
  ],
  [
    '/v2/crdt/add',
    { ...editor, type: 'array', data: {} },
    'Data must be an array for type array.',
    { ...editor, editorId: 'editor_3', type: 'array', data: [1] },
  ],
  [
    '/v2/notifications/add',
    { ...notification, notifyUsers: [{ userId: 'user_1' }] },
    'displayHeadlineMessageTemplate is required.',
    { ...notification, ...texts, notifyUsers: [{ userId: 'user_1' }] },
    { ...notification, isNotificationResolverUsed: true, notifyUsers: [] },
  ],
  [
    '/v1/notifications/add',
    { ...notification, isNotificationResolverUsed: true, notifyUsers: [] },
    'displayHeadlineMessageTemplate is required.',
  ],
  [
    '/v2/notifications/add',
    { ...notification, ...texts, notifyUsers: [], notifyAll: false },
    'notifyUsers must not be empty.',
    { ...notification, ...texts, notifyUsers: [], notifyAll: true },
  ],
  [
    '/v2/notifications/add',
    { ...notification, ...texts, notifyUsers: [{ name: 'Ada' }] },
    'notifyUsers[0] must have a userId or an email.',
    { ...notification, ...texts, notifyUsers: [{ email: 'ada@example.com' }] },
  ],
  [
    '/v2/notifications/delete',
    { organizationId, locationId: 'page_1' },
    'At least one of documentId, userId or notificationIds is required.',
    { organizationId, userId: 'user_1' },
    { organizationId, notificationIds: ['1'] },
  ],
  [
    '/v2/notifications/config/get',
    { organizationId, userId: 'user_1' },
    'documentIds is required.',
    { organizationId, userId: 'user_1', getOrganizationConfig: true },
  ],
  [
    '/v1/notifications/config/get',
    { organizationId, userId: 'user_1', getOrganizationConfig: true },
    'documentIds is required.',
    { organizationId, userId: 'user_1', documentIds: ['doc_1'] },
  ],
  [
    '/v2/notifications/config/get',
    { organizationId, userId: 'user_1', documentIds: [] },
    'documentIds must not be empty.',
  ],
  [
    '/v1/notifications/config/set',
    { organizationId, userIds, config: { inbox: 'ALL' } },
    'documentIds is required.',
  ],
  [
    '/v2/notifications/config/set',
    { organizationId, userIds, config: {} },
    'config must not be empty.',
    { organizationId, userIds, config: { inbox: 'ALL' } },
  ],
  [
    '/v2/commentannotations/add',
    annotation({ visibility: { type: 'restricted' } }),
    'commentAnnotations[0].visibility.userIds must not be empty.',
    annotation({ visibility: { type: 'restricted', userIds } }),
  ],
  [
    '/v2/commentannotations/add',
    annotation({ commentData: [{ from, commentText: ' ' }] }),
    'commentAnnotations[0].commentData[0].commentText is required.',
    annotation({ commentData: [{ from, commentHtml: '<b>Hi</b>' }] }),
    annotation({ commentData: [{ from, isCommentResolverUsed: true }] }),
    annotation({ commentData: [{ from, attachments: [{ attachmentId: 1 }] }] }),
  ],
  [
    '/v1/commentannotations/add',
    annotation({ commentData: [{ from, attachments: [{ attachmentId: 1 }] }] }),
    'commentAnnotations[0].commentData[0].commentText is required.',
  ],
  ['/v1/commentannotations/get', { organizationId }, 'documentId is required.', place],
  [
    '/v2/commentannotations/update',
    { ...place, annotationIds: ['a1'] },
    'At least one of updatedData or updateUsers must be provided.',
    { ...place, annotationIds: ['a1'], updatedData: { status: { type: 'terminal' } } },
  ],
  [
    '/v2/commentannotations/update',
    { ...place, updatedData: { status: { id: 'DONE', type: 'terminal' } } },
    'updatedData.status.name is required.',
    { ...place, updatedData: { status: { id: 'DONE', name: 'Done', type: 'terminal' } } },
  ],
  ['/v2/events/get', { documentId: 'doc_1' }, 'organizationId is required.', place],
  [
    '/v2/activities/add',
    { ...place, activities: [activity] },
    'activities[0].targetEntityId is required.',
    { ...place, activities: [{ ...activity, featureType: 'comment' }] },
  ],
  [
    '/v2/activities/delete',
    { organizationId },
    'At least one of documentId, targetEntityId, or activityIds must be provided.',
    { organizationId, activityIds: ['1'] },
  ],
]

describe('the OpenAPI document and the server', () => {
  const server = useServer('sqlite')
  let tenant: given.Tenant
  beforeAll(async () => {
    tenant = await given.tenant(server)
    const data = { activityServiceConfig: { isEnabled: true } }
    await server.post('/v2/workspace/activityconfig/update', { data }, tenant.headers)
  })

  test.each(conditions)(
    '[0.1.11] %s refuses %j in both, with "%s"',
    async (path, broken, message, ...kept) => {
      const { status, body } = await server.post(path, { data: broken }, tenant.headers)
      expect({ status, message: body.error?.message, isDescribed: accepts(path, broken) }).toEqual({
        status: 400,
        message,
        isDescribed: false,
      })
      for (const data of kept) {
        const answer = await server.post(path, { data }, tenant.headers)
        const isRefused = answer.status === 400 && answer.body.error.message === message
        expect({ data, isRefused, isDescribed: accepts(path, data) }).toEqual({
          data,
          isRefused: false,
          isDescribed: true,
        })
      }
    },
  )
})

describe('v1 in the OpenAPI document', () => {
  test('[0.1.12] an operation under v1 says what it ignores, and its schema does not have it', () => {
    const path = '/commentannotations/add'
    const { description } = paths[`/v1${path}`]!.post
    expect(description).toContain(
      'v1 ignores `createOrganization`, `createDocument`, `verifyUserPermissions`',
    )
    expect(description).toContain('`commentAnnotations[].commentData[].attachments`')
    expect(paths[`/v2${path}`]!.post.description).not.toContain('v1 ignores')
    const [older, newer] = ['v1', 'v2'].map((version) =>
      Object.keys(bodyOf(`/${version}${path}`).properties?.data?.properties ?? {}),
    )
    expect(newer?.filter((field) => !older?.includes(field))).toEqual([
      'createOrganization',
      'createDocument',
      'verifyUserPermissions',
    ])
    expect(Object.keys(components.schemas.CommentDataV1?.properties ?? {})).not.toContain('attachments')
    expect(Object.keys(components.schemas.CommentData?.properties ?? {})).toContain('attachments')
  })

  test('[0.1.12] an operation without fields that v1 ignores has one schema under both versions', () => {
    const path = '/organizations/documents/update'
    expect(paths[`/v1${path}`]!.post.requestBody).toEqual(paths[`/v2${path}`]!.post.requestBody)
  })
})

test.each([
  ['a limit', { ...protocol.OrganizationId, maxLength: 10 }],
  ['an optional field', { ...protocol.CommentLocation, required: [] }],
  ['a condition', { ...protocol.NotificationUser, 'x-conditions': { minProperties: 1 } }],
])('[0.1.10] a copy of a schema that differs in %s does not have the name of its original', (_what, copy) => {
  expect(createSchemas().of(copy)).not.toHaveProperty('$ref')
  const { 'x-conditions': _, ...same } = {
    ...protocol.NotificationUser,
    description: 'Another one.',
  } as Record<string, unknown>
  expect(createSchemas().of(same)).toEqual({
    $ref: '#/components/schemas/NotificationUser',
    description: 'Another one.',
  })
})
