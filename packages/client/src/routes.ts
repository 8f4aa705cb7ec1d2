// Derived from the table of operations by "npm run derive". Do not edit.

/** Path, who may call, whether it writes, and the versions of the path. */
export type Route = readonly [path: string, access: string, effect: 'read' | 'write', versions: readonly ('v1' | 'v2')[]]

export const routes: Readonly<Record<string, Readonly<Record<string, Route>>>> = {
  workspace: {
    create: ['/workspace/create', 'public', 'write', ['v2']],
    get: ['/workspace/get', 'workspace', 'read', ['v2']],
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
  auth: {

  },
  permissions: {

  },
  organizations: {
    add: ['/organizations/add', 'apiKey', 'write', ['v1', 'v2']],
    get: ['/organizations/get', 'apiKey', 'read', ['v1', 'v2']],
    update: ['/organizations/update', 'apiKey', 'write', ['v1', 'v2']],
    delete: ['/organizations/delete', 'apiKey', 'write', ['v1', 'v2']],
    updateDisableState: ['/organizations/access/disablestate/update', 'apiKey', 'write', ['v1', 'v2']],
  },
  folders: {

  },
  documents: {

  },
  users: {

  },
  userGroups: {

  },
  presence: {

  },
  liveState: {

  },
  crdt: {

  },
  notifications: {

  },
}
