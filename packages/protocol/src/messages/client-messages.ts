import Type from 'typebox'
import { described, flag, jsonObject } from '../base/schemas.ts'
import { limits } from '../realtime.ts'
import { CrdtType, VersionInfo } from '../resources/crdt.ts'
import { type ClientMessageDeclaration, clientMessage, request } from './declarations.ts'
import {
  Channel,
  clientText,
  ListName,
  OnlineStatus,
  Position,
  Ref,
  RequestId,
  stored,
  Topic,
} from './fields.ts'

/** Far more than there are topics. */
const maxTopics = 100

const documentRef = { organizationId: 'acme', documentId: 'plan' }
const version = {
  versionId: 'ver_5k2q9x0c7b1m4n8z3v6t',
  name: 'First draft',
  type: 'text',
  createdAt: 1737369000000,
  createdBy: { userId: 'ada', name: 'Ada' },
} as const

/** Every message that a client can send, by its `type`. */
export const clientMessages = {
  auth: clientMessage({
    summary: 'Authenticates the client, or renews its token.',
    description:
      'The first message, unless the token is in the URL or the headers have the credentials of a backend. A later `auth` replaces the token by a new one of the same user. If the server refuses the first token, it closes the connection. If it refuses a later token, it sends `error`, and the old token stays valid until it expires.',
    fields: { token: clientText('The user token.', limits.firstMessageBytes) },
    answers: ['ready', 'error'],
    errors: {
      UNAUTHENTICATED: 'A later token is invalid, expired, or that of another user.',
      PERMISSION_DENIED: 'The origin of the page is not allowed.',
      UNAVAILABLE: 'The server could not check a later token.',
    },
    example: { token: 'eyJhbGciOiJFUzI1NiIsIm…' },
  }),
  open: clientMessage({
    summary: 'Opens a document.',
    description:
      'Creates the document if it does not exist and the user may open it. If an id is not [valid](README.md#ids), the server answers `closed` with the code 4400.',
    fields: {
      ref: Ref,
      organizationId: clientText('Id of the organization.'),
      documentId: clientText('Id of the document.'),
      topics: Type.Array(Topic, {
        maxItems: maxTopics,
        description: 'What to subscribe to: `presence`, `liveState` and `comments`.',
      }),
      since: Type.Optional(
        described(
          Position,
          'The newest position that the client has received. Requests only what changed after it.',
        ),
      ),
    },
    answers: ['opened', 'closed', 'error'],
    errors: {
      ALREADY_EXISTS:
        'The ref is in use, or the connection has the document open: the message names its ref.',
    },
    example: {
      ref: 1,
      ...documentRef,
      topics: ['presence', 'liveState'],
      since: { epoch: 'mwhgkpca', seq: 1 },
    },
  }),
  close: clientMessage({
    summary: 'Closes a document.',
    description:
      'The server still handles the messages that the client sent before. The ref and the channels of its editors can be used again immediately.',
    fields: { ref: Ref },
    example: { ref: 1 },
  }),
  setPresence: clientMessage({
    summary: 'Changes the entry of the user in the presence list of a document.',
    description: 'Absent fields keep their value.',
    fields: {
      ref: Ref,
      status: Type.Optional(OnlineStatus),
      data: Type.Optional(
        Type.Union([jsonObject('The data.'), Type.Null()], {
          ...stored,
          description: 'Data that other users see, such as a cursor. `null` removes it.',
        }),
      ),
    },
    answers: ['error'],
    errors: {
      NOT_FOUND: 'No document is open under the ref.',
      INVALID_ARGUMENT:
        'The data is larger than 16 KiB, or has a [string that cannot be stored](../guides/realtime.md#limits).',
      RESOURCE_EXHAUSTED: 'All presence data and awareness states of the connection exceed 1 MiB.',
    },
    example: { ref: 1, status: 'online', data: { cursor: [3, 4] } },
  }),
  setLiveState: request({
    summary: 'Sets a live state of a document.',
    fields: {
      ref: Ref,
      id: RequestId,
      liveStateDataId: clientText('Id of the live state inside the document.'),
      data: Type.Unsafe<Record<string, unknown>>({
        ...jsonObject('The new value, or with `merge` the keys to change.'),
        ...stored,
      }),
      merge: Type.Optional(
        flag('True: the sent keys are merged into the stored value, one level deep. Default: false.'),
      ),
    },
    done: {
      fields: {
        position: described(
          Position,
          'The change. Do not send it as `since`: changes with a lower `seq` can arrive after it.',
        ),
      },
      example: { position: { epoch: 'mwhgkpca', seq: 1 } },
    },
    errors: {
      NOT_FOUND: 'No document is open under the ref, or the document does not exist any more.',
      INVALID_ARGUMENT:
        '`liveStateDataId` is not [valid](README.md#ids), the value is larger than 1 MiB, or it has a [string that cannot be stored](../guides/realtime.md#limits).',
      PERMISSION_DENIED: 'The user is a viewer.',
      RESOURCE_EXHAUSTED: 'The document has 1,000 values, or its values have 16 MiB together.',
      UNAVAILABLE: 'The server could not store the value.',
    },
    example: { ref: 1, id: 1, liveStateDataId: 'player', data: { playing: true }, merge: true },
  }),
  openEditor: clientMessage({
    summary: 'Opens an editor of an open document.',
    description:
      'Creates the editor if it does not exist. The server ignores the declared type and key of a viewer. If `editorId` or `contentKey` is not valid, it answers `editorClosed` with the code 4400.',
    fields: {
      ref: Ref,
      channel: Channel,
      editorId: clientText('Id of the editor inside the document.'),
      contentType: Type.Optional(
        described(
          CrdtType,
          'Declares for REST the type of the content. Default: the server looks for the content.',
        ),
      ),
      contentKey: Type.Optional(
        clientText(
          'Declares for REST which [root](../guides/editors.md#which-root-holds-the-content) has the content.',
        ),
      ),
    },
    answers: ['editorOpened', 'editorClosed', 'error'],
    errors: {
      NOT_FOUND: 'No document is open under the ref.',
      ALREADY_EXISTS:
        'The channel is in use, or the connection has the editor open: the message names its channel.',
      INVALID_ARGUMENT: 'Another declared root has content. The message names it, and the editor stays open.',
    },
    example: { ref: 1, channel: 5, editorId: 'note', contentType: 'text' },
  }),
  closeEditor: clientMessage({
    summary: 'Closes an editor.',
    description:
      'The server still handles the messages that the client sent before. The channel can be used again immediately.',
    fields: { channel: Channel },
    example: { channel: 5 },
  }),
  listVersions: request({
    summary: 'Lists the versions of an open editor, newest first.',
    fields: {
      channel: Channel,
      id: RequestId,
      pageSize: Type.Optional(
        Type.Integer({
          description: `Maximum number of versions in the answer, from 1 to ${limits.versionsPerPage}. Default: ${limits.versionsPerPage}.`,
        }),
      ),
      pageToken: Type.Optional(
        clientText('The page to read: the `nextPageToken` of the previous page.', limits.pageTokenLength),
      ),
    },
    done: {
      fields: {
        versions: Type.Array(VersionInfo, { description: 'The versions, without their content.' }),
        nextPageToken: Type.Optional(
          Type.String({
            description: 'Send it as `pageToken` to read the next page. Absent on the last page.',
          }),
        ),
      },
      example: { versions: [version] },
    },
    errors: {
      NOT_FOUND: 'No editor is open under the channel.',
      INVALID_ARGUMENT: '`pageSize` or `pageToken` is not valid.',
    },
    example: { channel: 5, id: 2, pageSize: 10 },
  }),
  addVersion: request({
    summary: 'Saves the content of an open editor as a version.',
    description: 'The version contains all updates that the client sent before.',
    fields: {
      channel: Channel,
      id: RequestId,
      name: Type.String({ ...clientText('Display name of the version.'), ...stored }),
    },
    done: {
      fields: { version: described(VersionInfo, 'The version that was added.') },
      example: { version },
    },
    errors: {
      NOT_FOUND: 'No editor is open under the channel, or the editor does not exist.',
      INVALID_ARGUMENT:
        'The name is blank, longer than 200 characters, or a [string that cannot be stored](../guides/realtime.md#limits).',
      PERMISSION_DENIED: 'The user is a viewer.',
      RESOURCE_EXHAUSTED:
        'The editor has 500 versions, or the user added or restored 20 versions within a minute.',
      UNAVAILABLE: 'The server could not confirm the request. It may have added the version.',
    },
    example: { channel: 5, id: 3, name: 'First draft' },
  }),
  restoreVersion: request({
    summary: 'Restores an open editor to a version.',
    description: 'The restored content arrives as an ordinary update, before or after the answer.',
    fields: { channel: Channel, id: RequestId, versionId: clientText('Id of the version.') },
    done: { fields: {}, example: {} },
    errors: {
      NOT_FOUND: 'No editor is open under the channel, or the version or the editor does not exist.',
      PERMISSION_DENIED: 'The user is a viewer.',
      RESOURCE_EXHAUSTED: 'The user added or restored 20 versions within a minute.',
      UNAVAILABLE: 'The server could not confirm the request. It may have restored the version.',
    },
    example: { channel: 5, id: 4, versionId: version.versionId },
  }),
  call: request({
    summary: 'Calls an operation as the user of the connection.',
    description:
      'The operations that users can call have the access [API key or user](README.md#access). The input is checked and the operation runs as over REST. No document needs to be open.',
    fields: {
      id: RequestId,
      operation: clientText('The operation, such as `comments.add`.'),
      input: Type.Unsafe<Record<string, unknown>>({
        ...jsonObject('The input of the operation: what REST has inside `data`.'),
        ...stored,
      }),
      idempotencyKey: Type.Optional(
        clientText(
          'Only for writes: a repeated call with the same key runs once, and gets the first answer.',
          255,
        ),
      ),
    },
    done: {
      fields: { result: jsonObject('The answer of the operation: what REST has inside `result`.') },
      example: {
        result: { status: 'success', message: 'Comment(s) added successfully.', data: [778115] },
      },
    },
    errors: {
      NOT_FOUND: 'There is no such operation that users can call, or the operation answers so.',
      INVALID_ARGUMENT: 'The input is not valid. The message names the field.',
      PERMISSION_DENIED: 'The user may not do this.',
      RESOURCE_EXHAUSTED: 'The API key has sent too many requests.',
      UNAVAILABLE: 'The server could not confirm the call. It may have had its effect.',
    },
    example: {
      id: 5,
      operation: 'comments.add',
      input: { ...documentRef, annotationId: 'a1', commentData: [{ commentText: 'Yes, I checked it.' }] },
    },
  }),
  openInbox: request({
    summary: 'Subscribes to changes of the inbox of the user in an organization.',
    description:
      'After `done`, read the inbox with a call of `notifications.get`, and read it again after each `inboxChanged`. No document needs to be open. If the inbox is open, nothing changes.',
    fields: { id: RequestId, organizationId: clientText('Id of the organization.') },
    done: { fields: {}, example: {} },
    errors: {
      INVALID_ARGUMENT: '`organizationId` is not [valid](README.md#ids).',
      PERMISSION_DENIED: 'The client is a backend, which has no inbox.',
      RESOURCE_EXHAUSTED: `The connection has ${limits.inboxes} inboxes open.`,
    },
    example: { id: 6, organizationId: 'acme' },
  }),
  closeInbox: clientMessage({
    summary: 'Ends the subscription to an inbox.',
    fields: { organizationId: clientText('Id of the organization.') },
    example: { organizationId: 'acme' },
  }),
  openList: request({
    summary: 'Subscribes to changes of a list of an organization: its documents or its people.',
    description:
      'After `done`, read the list on this connection, with a call of `documents.list` or `users.list`, and apply each `listChanged`. No document needs to be open. If the list is open, nothing changes.',
    fields: { id: RequestId, organizationId: clientText('Id of the organization.'), list: ListName },
    done: { fields: {}, example: {} },
    errors: {
      INVALID_ARGUMENT: '`organizationId` is not [valid](README.md#ids).',
      PERMISSION_DENIED: 'The client is a backend, which has no lists.',
      RESOURCE_EXHAUSTED: `The connection has ${limits.lists} lists open.`,
    },
    example: { id: 7, organizationId: 'acme', list: 'documents' },
  }),
  closeList: clientMessage({
    summary: 'Ends the subscription to a list.',
    fields: { organizationId: clientText('Id of the organization.'), list: ListName },
    example: { organizationId: 'acme', list: 'documents' },
  }),
  ping: clientMessage({
    summary: 'Keeps the connection alive, and the user present.',
    description: 'Browsers cannot send the pings of the WebSocket protocol.',
    fields: {},
    answers: ['pong'],
    example: {},
  }),
} satisfies Record<string, ClientMessageDeclaration>
