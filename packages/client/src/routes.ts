// Derived from the operation table by "npm run derive". Do not edit.

/** Path, needed credentials, whether the operation writes, and the versions that have the path. */
export type Route = readonly [path: string, access: string, effect: 'read' | 'write', versions: readonly ('v1' | 'v2')[]]

export const routes: Readonly<Record<string, Readonly<Record<string, Route>>>> = {
  workspace: {
    create: ['/workspace/create', 'public', 'write', ['v2']],
    get: ['/workspace/get', 'workspace', 'read', ['v2']],
  },
  email: {
    status: ['/workspace/email/status', 'public', 'read', ['v2']],
    sendLoginLink: ['/workspace/email/send-login-link', 'public', 'write', ['v2']],
    login: ['/workspace/email/login', 'public', 'write', ['v2']],
  },
  apiKeys: {
    create: ['/workspace/apikey/create', 'workspace', 'write', ['v2']],
    update: ['/workspace/apikey/update', 'workspace', 'write', ['v2']],
    get: ['/workspace/apikeys/get', 'workspace', 'read', ['v2']],
  },
  authTokens: {
    get: ['/workspace/authtokens/get', 'workspace', 'read', ['v2']],
    reset: ['/workspace/authtoken/reset', 'workspace', 'write', ['v2']],
  },
  apiKeyConfig: {
    get: ['/workspace/apikeyconfig/get', 'apiKey', 'read', ['v2']],
    update: ['/workspace/apikeyconfig/update', 'apiKey', 'write', ['v2']],
  },
  domains: {
    add: ['/workspace/domains/add', 'apiKey', 'write', ['v1', 'v2']],
    get: ['/workspace/domains/get', 'apiKey', 'read', ['v1', 'v2']],
    delete: ['/workspace/domains/delete', 'apiKey', 'write', ['v1', 'v2']],
  },
  emailConfig: {
    get: ['/workspace/emailconfig/get', 'apiKey', 'read', ['v2']],
    update: ['/workspace/emailconfig/update', 'apiKey', 'write', ['v2']],
  },
  webhookConfig: {
    get: ['/workspace/webhookconfig/get', 'apiKey', 'read', ['v2']],
    update: ['/workspace/webhookconfig/update', 'apiKey', 'write', ['v2']],
  },
  advancedWebhookConfig: {
    get: ['/workspace/advancedwebhookconfig/get', 'apiKey', 'read', ['v2']],
    update: ['/workspace/advancedwebhookconfig/update', 'apiKey', 'write', ['v2']],
  },
  webhookEndpoints: {
    create: ['/workspace/advancedwebhook/endpoints/create', 'apiKey', 'write', ['v2']],
    get: ['/workspace/advancedwebhook/endpoints/get', 'apiKey', 'read', ['v2']],
    update: ['/workspace/advancedwebhook/endpoints/update', 'apiKey', 'write', ['v2']],
    delete: ['/workspace/advancedwebhook/endpoints/delete', 'apiKey', 'write', ['v2']],
    getSecret: ['/workspace/advancedwebhook/endpoints/secret/get', 'apiKey', 'read', ['v2']],
    rotateSecret: ['/workspace/advancedwebhook/endpoints/secret/rotate', 'apiKey', 'write', ['v2']],
  },
  deliveries: {
    get: ['/workspace/deliveries/get', 'apiKey', 'read', ['v2']],
    retry: ['/workspace/deliveries/retry', 'apiKey', 'write', ['v2']],
  },
  notificationServiceConfig: {
    get: ['/workspace/notificationconfig/get', 'apiKey', 'read', ['v2']],
    update: ['/workspace/notificationconfig/update', 'apiKey', 'write', ['v2']],
  },
  activityConfig: {
    get: ['/workspace/activityconfig/get', 'apiKey', 'read', ['v2']],
    update: ['/workspace/activityconfig/update', 'apiKey', 'write', ['v2']],
  },
  auth: {
    generateToken: ['/auth/generate_token', 'apiKey', 'read', ['v2']],
    getToken: ['/auth/token/get', 'body', 'read', ['v1']],
    generateSignature: ['/auth/generate_signature', 'apiKey', 'read', ['v2']],
  },
  permissions: {
    add: ['/auth/permissions/add', 'apiKey', 'write', ['v2']],
    get: ['/auth/permissions/get', 'apiKey', 'read', ['v2']],
    remove: ['/auth/permissions/remove', 'apiKey', 'write', ['v2']],
    explain: ['/auth/permissions/explain', 'apiKey', 'read', ['v2']],
  },
  permissionProviderConfig: {
    get: ['/workspace/permissionproviderconfig/get', 'apiKey', 'read', ['v2']],
    update: ['/workspace/permissionproviderconfig/update', 'apiKey', 'write', ['v2']],
  },
  organizations: {
    add: ['/organizations/add', 'apiKey', 'write', ['v1', 'v2']],
    get: ['/organizations/get', 'apiKey', 'read', ['v1', 'v2']],
    update: ['/organizations/update', 'apiKey', 'write', ['v1', 'v2']],
    delete: ['/organizations/delete', 'apiKey', 'write', ['v1', 'v2']],
    updateDisableState: ['/organizations/access/disablestate/update', 'apiKey', 'write', ['v1', 'v2']],
  },
  folders: {
    add: ['/organizations/folders/add', 'apiKey', 'write', ['v1', 'v2']],
    get: ['/organizations/folders/get', 'apiKey', 'read', ['v1', 'v2']],
    update: ['/organizations/folders/update', 'apiKey', 'write', ['v1', 'v2']],
    delete: ['/organizations/folders/delete', 'apiKey', 'write', ['v2']],
    updateAccess: ['/organizations/folders/access/update', 'apiKey', 'write', ['v1', 'v2']],
  },
  documents: {
    add: ['/organizations/documents/add', 'apiKey', 'write', ['v1', 'v2']],
    get: ['/organizations/documents/get', 'apiKey', 'read', ['v1', 'v2']],
    list: ['/organizations/documents/list', 'user', 'read', ['v2']],
    update: ['/organizations/documents/update', 'apiKey', 'write', ['v1', 'v2']],
    delete: ['/organizations/documents/delete', 'apiKey', 'write', ['v1', 'v2']],
    move: ['/organizations/documents/move', 'apiKey', 'write', ['v1', 'v2']],
    updateAccess: ['/organizations/documents/access/update', 'apiKey', 'write', ['v1', 'v2']],
    updateDisableState: ['/organizations/documents/access/disablestate/update', 'apiKey', 'write', ['v1', 'v2']],
    migrate: ['/organizations/documents/migrate', 'apiKey', 'write', ['v2']],
    migrateStatus: ['/organizations/documents/migrate/status', 'apiKey', 'read', ['v2']],
  },
  locations: {
    update: ['/organizations/documents/locations/update', 'body', 'write', ['v1']],
    deleteData: ['/organizations/documents/locations/data/delete', 'body', 'write', ['v1']],
  },
  users: {
    add: ['/users/add', 'apiKey', 'write', ['v1', 'v2']],
    get: ['/users/get', 'apiKey', 'read', ['v1', 'v2']],
    list: ['/users/list', 'user', 'read', ['v2']],
    update: ['/users/update', 'apiKey', 'write', ['v1', 'v2']],
    delete: ['/users/delete', 'apiKey', 'write', ['v1', 'v2']],
  },
  userGroups: {
    add: ['/organizations/usergroups/add', 'apiKey', 'write', ['v1', 'v2']],
    addUsers: ['/organizations/usergroups/users/add', 'apiKey', 'write', ['v1', 'v2']],
    deleteUsers: ['/organizations/usergroups/users/delete', 'apiKey', 'write', ['v1', 'v2']],
  },
  userData: {
    get: ['/users/data/get', 'apiKey', 'read', ['v1', 'v2']],
    delete: ['/users/data/delete', 'apiKey', 'write', ['v1', 'v2']],
    deleteStatus: ['/users/data/delete/status', 'apiKey', 'read', ['v1', 'v2']],
  },
  presence: {
    add: ['/presence/add', 'apiKey', 'write', ['v2']],
    update: ['/presence/update', 'apiKey', 'write', ['v2']],
    delete: ['/presence/delete', 'apiKey', 'write', ['v2']],
  },
  liveState: {
    broadcast: ['/livestate/broadcast', 'apiKey', 'write', ['v1', 'v2']],
  },
  crdt: {
    add: ['/crdt/add', 'apiKey', 'write', ['v2']],
    get: ['/crdt/get', 'apiKey', 'read', ['v2']],
    update: ['/crdt/update', 'apiKey', 'write', ['v2']],
  },
  crdtVersions: {
    add: ['/crdt/versions/add', 'apiKey', 'write', ['v2']],
    get: ['/crdt/versions/get', 'apiKey', 'read', ['v2']],
    restore: ['/crdt/versions/restore', 'apiKey', 'write', ['v2']],
  },
  notifications: {
    add: ['/notifications/add', 'apiKey', 'write', ['v1', 'v2']],
    get: ['/notifications/get', 'user', 'read', ['v1', 'v2']],
    update: ['/notifications/update', 'user', 'write', ['v1', 'v2']],
    delete: ['/notifications/delete', 'apiKey', 'write', ['v1', 'v2']],
    getConfig: ['/notifications/config/get', 'user', 'read', ['v1', 'v2']],
    setConfig: ['/notifications/config/set', 'user', 'write', ['v1', 'v2']],
  },
  commentAnnotations: {
    add: ['/commentannotations/add', 'user', 'write', ['v1', 'v2']],
    get: ['/commentannotations/get', 'user', 'read', ['v1', 'v2']],
    update: ['/commentannotations/update', 'user', 'write', ['v1', 'v2']],
    delete: ['/commentannotations/delete', 'user', 'write', ['v1', 'v2']],
    count: ['/commentannotations/count/get', 'user', 'read', ['v1', 'v2']],
    markViewed: ['/commentannotations/viewed', 'user', 'write', ['v2']],
    subscribe: ['/commentannotations/subscribe', 'user', 'write', ['v2']],
  },
  comments: {
    add: ['/commentannotations/comments/add', 'user', 'write', ['v1', 'v2']],
    get: ['/commentannotations/comments/get', 'user', 'read', ['v1', 'v2']],
    update: ['/commentannotations/comments/update', 'user', 'write', ['v1', 'v2']],
    delete: ['/commentannotations/comments/delete', 'user', 'write', ['v1', 'v2']],
    addReaction: ['/commentannotations/comments/reactions/add', 'user', 'write', ['v2']],
    deleteReaction: ['/commentannotations/comments/reactions/delete', 'user', 'write', ['v2']],
  },
  events: {
    get: ['/events/get', 'user', 'read', ['v2']],
  },
  activities: {
    add: ['/activities/add', 'apiKey', 'write', ['v2']],
    get: ['/activities/get', 'user', 'read', ['v2']],
    update: ['/activities/update', 'apiKey', 'write', ['v2']],
    delete: ['/activities/delete', 'apiKey', 'write', ['v2']],
  },
}
