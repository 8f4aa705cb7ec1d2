import type { VersionRequest } from '../../editors/version-requests.ts'
import type { MessageOf, ReadMessage } from '../../messages/message.ts'
import type { JsonCalls } from './calls.ts'
import type { JsonDocuments } from './documents.ts'
import type { JsonInboxes } from './inboxes.ts'
import type { JsonLists } from './lists.ts'

/** What the messages of a client act on. */
export interface MessageTarget {
  readonly documents: JsonDocuments
  readonly calls: JsonCalls
  readonly inboxes: JsonInboxes
  readonly lists: JsonLists
  authenticate(token: string): void
  ping(): void
}

type Type = ReadMessage['type']

/** Handles a valid message. `bytes`: the size of its frame. */
type MessageHandler<T extends Type> = (client: MessageTarget, message: MessageOf<T>, bytes: number) => void

const requestVersions = ({ documents }: MessageTarget, message: VersionRequest, bytes: number) =>
  documents.editors.find(message)?.requestVersions(message, bytes)

/** What each message of a client does. */
const handlers: { readonly [T in Type]: MessageHandler<T> } = {
  auth: (client, { token }) => client.authenticate(token),
  open: ({ documents }, message) => documents.open(message),
  close: ({ documents }, { ref }) => documents.close(ref),
  setPresence: ({ documents }, message) => documents.find(message)?.setPresence(message),
  setLiveState: ({ documents }, message, bytes) => documents.find(message)?.setLiveState(message, bytes),
  openEditor: ({ documents }, message) => documents.editors.open(message, () => documents.find(message)),
  closeEditor: ({ documents }, { channel }) => documents.editors.close(channel),
  listVersions: requestVersions,
  addVersion: requestVersions,
  restoreVersion: requestVersions,
  call: ({ calls }, message, bytes) => calls.run(message, bytes),
  openInbox: ({ inboxes }, message) => inboxes.open(message),
  closeInbox: ({ inboxes }, { organizationId }) => inboxes.close(organizationId),
  openList: ({ lists }, message) => lists.open(message),
  closeList: ({ lists }, message) => lists.close(message),
  ping: (client) => client.ping(),
}

export const handleMessage = (client: MessageTarget, message: ReadMessage, bytes: number): void =>
  // The compiler does not see that the handler belongs to the type of the message.
  (handlers[message.type] as MessageHandler<Type>)(client, message, bytes)
