import type { VersionInfo, VersionUser } from '@plenum/protocol/realtime'
import { createMessageBus, type MessageBus } from './platform/message-bus.ts'
import type { Log } from './platform/log/log.ts'

interface InDocument {
  apiKey: string
  organizationId: string
  documentId: string
}

/**
 * Whose access may have changed: that of these users, or of all users in these organizations or documents. If no field is
 * set: of all users under the API key.
 */
export interface AccessScope {
  userIds?: readonly string[]
  organizationIds?: readonly string[]
  /** Documents of the only organization in `organizationIds`. */
  documentIds?: readonly string[] | undefined
}

/** A row of the log of an editor. */
export interface LogRow {
  seq: number
  /** When the editor was created. */
  createdAt: number
  /** The Yjs client ids that wrote for the first time, with their users. */
  owners: readonly (readonly [clientId: number, userId: string])[]
  bytes: Uint8Array
}

/** Something that has happened and is durable. */
export type BusMessage =
  /** Access has changed. */
  | ({ kind: 'access'; apiKey: string } & AccessScope)
  /** The auth token was reset. */
  | { kind: 'credentials'; apiKey: string }
  /** The allowed domains have changed. */
  | { kind: 'domains'; apiKey: string }
  /** The settings of webhooks have changed. */
  | { kind: 'webhooks'; apiKey: string }
  /** The log of an editor grew, or the editor was created. `row`: the only new row, if it is known. */
  | ({ kind: 'editor'; editorId: string; row?: LogRow } & InDocument)
  /** A version of an editor was added. */
  | ({ kind: 'versionAdded'; editorId: string; version: VersionInfo } & InDocument)
  /** A version of an editor was restored. `restoredBy` is set if a user did it. */
  | ({
      kind: 'versionRestored'
      editorId: string
      version: VersionInfo
      restoredBy?: VersionUser | undefined
    } & InDocument)
  /** Live states of the document were set. `seq` is the number of the change. */
  | ({ kind: 'liveState'; seq: number } & InDocument)
  /** The backend has changed the presence entries of these users. With `removed`, it has removed them. */
  | ({ kind: 'presence'; userIds: readonly string[]; removed?: boolean } & InDocument)
  /** Documents were deleted, or moved to another id. Without `documentIds`: all documents of the organization. */
  | {
      kind: 'gone'
      apiKey: string
      organizationId: string
      documentIds?: readonly string[]
      isMoved?: boolean
    }
  /** Documents were created in another way than by Add Documents, which changes access. */
  | { kind: 'documents'; apiKey: string; organizationId: string; documentIds: readonly string[] }
  /** Users joined or left these organizations, or their profiles changed. */
  | { kind: 'people'; apiKey: string; organizationIds: readonly string[]; userIds: readonly string[] }
  /** Annotations of the document were changed. `seq` is the number of the change. */
  | ({ kind: 'threads'; seq: number } & InDocument)
  /** The user has viewed the annotations of the document that have these numbers. */
  | ({ kind: 'viewed'; userId: string; numbers: readonly number[] } & InDocument)
  /** Notifications of these users were added, changed or removed. Without `userIds`: of any users of the organization. */
  | { kind: 'inbox'; apiKey: string; organizationId: string; userIds?: readonly string[] }
  /** Presence, live states and editors of these documents may have changed. Without `documentIds`: all of the organization. */
  | { kind: 'changed'; apiKey: string; organizationId: string; documentIds?: readonly string[] }

/** The message to publish if it is unknown whether the write was committed: open sessions read the documents again. */
export function toUncertainMessage(message: BusMessage): BusMessage {
  if (!('organizationId' in message) || message.kind === 'inbox' || message.kind === 'viewed') return message
  const { apiKey, organizationId } = message
  const documentIds = 'documentId' in message ? [message.documentId] : message.documentIds
  return { kind: 'changed', apiKey, organizationId, ...(documentIds && { documentIds }) }
}

/** A bus message as an operation or a job publishes it with `signal`, which adds the API key. */
export type Signal = BusMessage extends infer Message
  ? Message extends BusMessage
    ? Omit<Message, 'apiKey'>
    : never
  : never

/** Delivers messages to the sessions of this server. `peers/signals.ts` publishes on it what other servers have changed. */
export type Bus = MessageBus<BusMessage>

/** The bus within one process. */
export const createServerBus = (log: Pick<Log, 'error'>): Bus =>
  createMessageBus((error, { kind }) => log.error({ err: error, kind }, 'a listener of the bus failed'))
