import type { Family } from '@plenum/protocol'

/** The title and the description of each family of operations. */
export const families: Record<Family, { title: string; description: string }> = {
  workspace: {
    title: 'Workspace',
    description:
      'A workspace belongs to an owner and has API keys. Creating one gives you the first credentials.',
  },
  email: {
    title: 'Login links',
    description: 'Links by email, with which the owner of a workspace logs in to a console.',
  },
  apiKeys: {
    title: 'API keys',
    description: 'Every record belongs to one API key. Two keys of a workspace share no data.',
  },
  authTokens: {
    title: 'Auth tokens',
    description: 'The secret that you send with an API key.',
  },
  apiKeyConfig: {
    title: 'API key configuration',
    description: 'The options of an API key.',
  },
  domains: {
    title: 'Allowed domains',
    description: 'The web domains whose pages may use an API key. An empty list allows every domain.',
  },
  emailConfig: {
    title: 'Email configuration',
    description: 'Whether and how an API key sends emails about activity.',
  },
  webhookConfig: {
    title: 'Webhook configuration',
    description: 'Two URLs of yours that the server calls when something happens.',
  },
  advancedWebhookConfig: {
    title: 'Advanced webhook configuration',
    description: 'Whether events are sent to the webhook endpoints of an API key, and how.',
  },
  webhookEndpoints: {
    title: 'Webhook endpoints',
    description: 'URLs of yours that receive signed deliveries of the events that you choose.',
  },
  deliveries: {
    title: 'Deliveries',
    description: 'The emails and webhooks of an API key: whether each has arrived, and sending it again.',
  },
  notificationServiceConfig: {
    title: 'Notification configuration',
    description: 'Which events notify users, and when the notifications are sent.',
  },
  activityConfig: {
    title: 'Activity configuration',
    description: 'Whether and how an API key records activities.',
  },
  auth: {
    title: 'User tokens',
    description: 'Signed tokens that identify a user and carry the permissions of the user.',
  },
  permissions: {
    title: 'Permissions',
    description: 'What a user may do with organizations, folders and documents.',
  },
  permissionProviderConfig: {
    title: 'Permission provider',
    description: 'An HTTP endpoint of yours that decides who may open documents.',
  },
  organizations: {
    title: 'Organizations',
    description: 'The top of the tree: folders, documents and users belong to an organization.',
  },
  folders: {
    title: 'Folders',
    description: 'Folders contain documents and other folders, and pass their access type on to them.',
  },
  documents: {
    title: 'Documents',
    description: 'What users edit together. Documents can be moved, disabled and migrated to another id.',
  },
  locations: {
    title: 'Locations',
    description:
      'Places inside a document, such as a page or a slide, at which comments and notifications are.',
  },
  users: {
    title: 'Users',
    description: 'The users of an organization, a folder or a document, with their roles.',
  },
  userGroups: {
    title: 'User groups',
    description: 'Named groups of users of an organization.',
  },
  userData: {
    title: 'User data',
    description: 'Everything that is stored about a user: to export it, and to erase it.',
  },
  presence: {
    title: 'Presence',
    description: 'The users who are in a document right now.',
  },
  liveState: {
    title: 'Live state',
    description: 'Small shared state of a document, sent to all clients that have the document open.',
  },
  crdt: {
    title: 'Editor data',
    description: 'The stored content of collaborative editors.',
  },
  crdtVersions: {
    title: 'Editor versions',
    description: 'Saved versions of the content of an editor, to read and to restore.',
  },
  notifications: {
    title: 'Notifications',
    description: 'The inbox of users, and which notifications each user receives.',
  },
  commentAnnotations: {
    title: 'Comment annotations',
    description:
      'Threads of comments in a document: where they are, who sees them, their status and assignment.',
  },
  comments: {
    title: 'Comments',
    description: 'The comments of a thread.',
  },
  events: {
    title: 'Events',
    description:
      'The log of all changes under an API key, in order, for backends that would rather pull than be called.',
  },
  activities: {
    title: 'Activities',
    description: 'A log of what happened in documents, for users to read.',
  },
}
