import type { Family } from '@plenum/protocol'

/** How people call a family, and what it is for. */
export const families: Record<Family, { title: string; description: string }> = {
  workspace: {
    title: 'Workspace',
    description:
      'A workspace belongs to an owner and holds API keys. Creating one gives the first credentials.',
  },
  apiKeys: {
    title: 'API keys',
    description: 'Every record belongs to one API key; two keys of a workspace share nothing.',
  },
  authTokens: {
    title: 'Auth tokens',
    description: 'The secret that is sent together with an API key.',
  },
  apiKeyConfig: {
    title: 'API key configuration',
    description: 'The switches of an API key.',
  },
  domains: {
    title: 'Allowed domains',
    description: 'The web domains whose pages may use an API key. While the list is empty, all may.',
  },
  emailConfig: {
    title: 'Email configuration',
    description: 'Whether and how an API key sends emails about activity.',
  },
  auth: {
    title: 'User tokens',
    description: 'Signed tokens that say who a user is and what the user may see and change.',
  },
  permissions: {
    title: 'Permissions',
    description: 'What a user may do with organizations, folders and documents.',
  },
  organizations: {
    title: 'Organizations',
    description: 'The top of the tree: folders, documents and users belong to an organization.',
  },
  folders: {
    title: 'Folders',
    description: 'Folders nest inside an organization, hold documents and may pass their access on.',
  },
  documents: {
    title: 'Documents',
    description: 'What people work on together. Documents can be moved, shut and migrated to another id.',
  },
  users: {
    title: 'Users',
    description: 'The people of an organization, a folder or a document, with their roles.',
  },
  userGroups: {
    title: 'User groups',
    description: 'Named groups of the users of an organization.',
  },
  presence: {
    title: 'Presence',
    description: 'Who is at a document right now.',
  },
  liveState: {
    title: 'Live state',
    description: 'Small shared state of a document, sent to everybody who has it open.',
  },
  crdt: {
    title: 'Editor data',
    description: 'The stored content of collaborative editors.',
  },
  crdtVersions: {
    title: 'Editor versions',
    description: 'Named states of the content of an editor, to look at and to return to.',
  },
  notifications: {
    title: 'Notifications',
    description: 'What users find in their inbox, and what each of them wants to be told about.',
  },
}
