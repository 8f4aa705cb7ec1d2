import Type, { type TProperties } from 'typebox'
import { AccessRole } from '../base/fields.ts'
import { described, flag, jsonObject, jsonValue, text } from '../base/schemas.ts'
import { VersionInfo, VersionUser } from '../resources/crdt.ts'
import { clientMessages } from './client-messages.ts'
import { type ClientMessageDeclaration, type MessageDeclaration, serverMessage } from './declarations.ts'
import {
  Channel,
  CloseCode,
  CloseText,
  ListName,
  LiveStateValue,
  Position,
  ThreadChanges,
  threadFields,
  PresenceEntry,
  Ref,
  RequestId,
} from './fields.ts'

const expiresAt = Type.Integer({
  description: 'When the token expires, in Unix seconds. 9007199254740991: never, for a backend.',
})
const position = { epoch: 'mwhgkpca', seq: 1 }
const user = {
  userId: 'ada',
  name: 'Ada',
  email: 'ada@example.com',
  color: '#1864ab',
  onlineStatus: 'online',
  data: { cursor: [3, 4] },
  source: 'client',
  timestamp: 1794724409811,
} as const
const liveState = {
  id: 'cdb59355f3ba293977fc0945fb85f118',
  liveStateDataId: 'player',
  data: { playing: true },
  lastUpdated: 1794724409947,
  updatedBy: { userId: 'ada' },
}
const { version } = clientMessages.addVersion.done.example

/** The fields of all answers to requests. Each answer has those that its request declares. */
const doneFields: TProperties = Object.fromEntries(
  Object.values<ClientMessageDeclaration>(clientMessages).flatMap(({ done }) =>
    Object.entries(done?.fields.properties ?? {}).map(([name, field]) => [name, Type.Optional(field)]),
  ),
)

/** Every message that the server can send, by its `type`. */
export const serverMessages = {
  ready: serverMessage({
    summary: 'The client is authenticated.',
    fields: {
      connectionId: text('Id of the connection.'),
      userId: text('Id of the user. `server`: the client is a backend.'),
      expiresAt,
    },
    example: { connectionId: 'conn_f92co257yu1ofv5vzdgy', userId: 'ada', expiresAt: 1794897209 },
  }),
  opened: serverMessage({
    summary: 'The document is open.',
    description: 'The message has the current state of the topics to which the client subscribed.',
    fields: {
      ref: Ref,
      accessRole: AccessRole,
      position: Position,
      reset: flag(
        'True: `liveStates` has all values, so discard those you have. False: it has the values that changed after `since`.',
      ),
      presence: Type.Optional(
        Type.Array(PresenceEntry, {
          description:
            'The presence list. It replaces the list that you have. If it is larger than 1 MiB, `presence` messages bring the rest.',
        }),
      ),
      liveStates: Type.Optional(Type.Array(LiveStateValue, { description: 'Live states of the document.' })),
      threads: Type.Optional(
        described(
          ThreadChanges,
          'Comment annotations that changed after `since`. Present with the topic `comments`.',
        ),
      ),
    },
    example: {
      ref: 1,
      accessRole: 'editor',
      position,
      reset: true,
      presence: [user],
      liveStates: [liveState],
    },
  }),
  closed: serverMessage({
    summary: 'The document and its editors are closed, or cannot be opened.',
    description: 'Pending requests may get no answer. The connection stays open.',
    fields: { ref: Ref, code: CloseCode, reason: CloseText },
    example: { ref: 1, code: 4403, reason: 'The user may not open this document.' },
  }),
  access: serverMessage({
    summary: 'The role of the user changed while the document was open.',
    fields: { ref: Ref, accessRole: AccessRole },
    example: { ref: 1, accessRole: 'viewer' },
  }),
  presence: serverMessage({
    summary: 'The presence list of a document changed.',
    description:
      'The server combines changes within about 15 ms, and splits many changes into several messages.',
    fields: {
      ref: Ref,
      users: Type.Array(PresenceEntry, {
        description: 'Entries that are new or changed. Replace the old ones.',
      }),
      left: Type.Array(Type.String(), { description: 'Ids of the users who left.' }),
    },
    example: { ref: 1, users: [user], left: [] },
  }),
  liveState: serverMessage({
    summary: 'Live states of a document were set, by this client, another client or a backend.',
    fields: {
      ref: Ref,
      position: Position,
      states: Type.Array(LiveStateValue, { description: 'The new values.' }),
    },
    example: { ref: 1, position, states: [liveState] },
  }),
  threads: serverMessage({
    summary: 'Comment annotations of a document changed.',
    description:
      'Sent to clients with the topic `comments`, as far as the user may see the annotations. Without `position`, a `liveState` with the position follows, unless the message only has `viewed`.',
    fields: { ref: Ref, position: Type.Optional(Position), ...threadFields },
    example: {
      ref: 1,
      position,
      reset: false,
      changed: [],
      removed: ['a1'],
      large: [],
      unread: [],
      viewed: [],
    },
  }),
  inboxChanged: serverMessage({
    summary: 'The inbox of the user may have changed. Read it again.',
    description: 'Sent after `openInbox`. Several changes at once may cause one message.',
    fields: { organizationId: text('Id of the organization.') },
    example: { organizationId: 'acme' },
  }),
  listChanged: serverMessage({
    summary: 'A list of documents or people changed.',
    description: 'Sent after `openList`, at most once a second for each list.',
    fields: {
      organizationId: text('Id of the organization.'),
      list: ListName,
      reset: flag('True: read the list again from its first page.'),
      items: Type.Array(
        jsonObject('A document or a person, as the operation that reads the list returns it.'),
        {
          description: 'What was added or changed, as far as the user may see it.',
        },
      ),
      recheck: flag(
        'True: something else changed that the user may not see, or that is gone. Read by id those items that you have.',
      ),
    },
    example: {
      organizationId: 'acme',
      list: 'documents',
      reset: false,
      items: [
        {
          documentId: 'roadmap',
          documentName: 'Roadmap',
          accessRole: 'editor',
          createdAt: 1738695077691,
          lastUpdated: 1738695077691,
        },
      ],
      recheck: false,
    },
  }),
  editorOpened: serverMessage({
    summary: 'The editor is open. Binary frames follow.',
    fields: { channel: Channel, accessRole: AccessRole },
    example: { channel: 5, accessRole: 'editor' },
  }),
  editorClosed: serverMessage({
    summary: 'The editor is closed, or cannot be opened. Its document stays open.',
    fields: { channel: Channel, code: CloseCode, reason: CloseText },
    example: { channel: 5, code: 4422, reason: 'The update is malformed.' },
  }),
  versionAdded: serverMessage({
    summary: 'This client, another client or a backend added a version.',
    fields: { channel: Channel, version: described(VersionInfo, 'The version.') },
    example: { channel: 5, version },
  }),
  versionRestored: serverMessage({
    summary: 'A version was restored. The new content arrives as an update.',
    fields: {
      channel: Channel,
      version: described(VersionInfo, 'The version.'),
      restoredBy: Type.Optional(
        described(VersionUser, 'The user who restored the version. Absent if a backend did.'),
      ),
    },
    example: { channel: 5, version, restoredBy: { userId: 'ada', name: 'Ada' } },
  }),
  versionsChanged: serverMessage({
    summary: 'The list of versions may have changed in another way, such as by a migration. Read it again.',
    fields: { channel: Channel },
    example: { channel: 5 },
  }),
  done: serverMessage({
    summary: 'A request succeeded. What it changed is on disk.',
    description: 'Which of the optional fields are present depends on the request.',
    fields: { id: RequestId, ...doneFields },
    example: { id: 1, ...clientMessages.setLiveState.done.example },
  }),
  error: serverMessage({
    summary: 'The server refused a message. The connection stays open.',
    description:
      'Nothing has changed, except possibly after `UNAVAILABLE`. `id`, `ref` and `channel` are those of the refused message.',
    fields: {
      id: Type.Optional(RequestId),
      ref: Type.Optional(Ref),
      channel: Type.Optional(Channel),
      status: text('The kind of the error: one of the [statuses of REST](README.md#errors).'),
      message: text('What is wrong, as a sentence.'),
      details: Type.Optional(jsonValue('The outcome of each item, if the operation of a `call` says so.')),
    },
    example: { id: 2, ref: 9, status: 'NOT_FOUND', message: 'No document is open under this ref.' },
  }),
  moved: serverMessage({
    summary: 'The server closes the connection soon, because it shuts down.',
    fields: {
      retryAfterMs: Type.Integer({ description: 'Connect again this many milliseconds after the message.' }),
    },
    example: { retryAfterMs: 500 },
  }),
  tokenExpiring: serverMessage({
    summary: 'The token expires within a minute. Send a new one with `auth`.',
    description: 'Sent once for each token, if a document is open.',
    fields: { expiresAt },
    example: { expiresAt: 1794897209 },
  }),
  pong: serverMessage({
    summary: 'Answers `ping`.',
    description:
      'While messages of the client wait for a document to load, the server sends `pong` every 20 s without a `ping`.',
    fields: {},
    example: {},
  }),
} satisfies Record<string, MessageDeclaration>
