import type { VersionInfo, VersionUser } from '@plenum/protocol/realtime'
import { createMessageBus, type MessageBus } from './platform/message-bus.ts'
import type { Log } from './platform/log/log.ts'

interface InDocument {
  apiKey: string
  organizationId: string
  documentId: string
}

/** Whose access may have changed: these users', that of all users in these organizations or documents, or everyone's. */
export interface AccessScope {
  userIds?: readonly string[]
  organizationIds?: readonly string[]
  /** Documents of the one organization in `organizationIds`. */
  documentIds?: readonly string[] | undefined
}

/** Something that has happened and is durable. */
export type BusMessage =
  /** Access has changed. */
  | ({ kind: 'access'; apiKey: string } & AccessScope)
  /** The auth token was reset. */
  | { kind: 'credentials'; apiKey: string }
  /** The allowed domains have changed. */
  | { kind: 'domains'; apiKey: string }
  /** The log of an editor grew, or the editor was created. */
  | ({ kind: 'editor'; editorId: string } & InDocument)
  /** A version of an editor was added. */
  | ({ kind: 'versionAdded'; editorId: string; version: VersionInfo } & InDocument)
  /** A version of an editor was restored. `restoredBy` is set if a user did it. */
  | ({
      kind: 'versionRestored'
      editorId: string
      version: VersionInfo
      restoredBy?: VersionUser | undefined
    } & InDocument)
  /** Live states were set, by the document's change number `seq`. */
  | ({ kind: 'liveState'; seq: number } & InDocument)
  /** The backend's presence entries of these users have changed. With `removed` they have none any more. */
  | ({ kind: 'presence'; userIds: readonly string[]; removed?: boolean } & InDocument)
  /** Documents were deleted, or moved to another id. Without `documentIds`: all of the organization. */
  | {
      kind: 'gone'
      apiKey: string
      organizationId: string
      documentIds?: readonly string[]
      isMoved?: boolean
    }
  /** Presence, live states and editors of documents may all have changed. Without `documentIds`: all of the organization. */
  | { kind: 'changed'; apiKey: string; organizationId: string; documentIds?: readonly string[] }

/** What to publish instead when it is unknown whether the write was committed: open sessions read the documents again. */
export function toUncertainMessage(message: BusMessage): BusMessage {
  if (!('organizationId' in message)) return message
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

/** Delivers the messages of this server. Nothing depends on it: a session that missed a message finds the change in the database. */
export type Bus = MessageBus<BusMessage>

/** The bus within one process. */
export const createServerBus = (log: Pick<Log, 'error'>): Bus =>
  createMessageBus((error, { kind }) => log.error({ err: error, kind }, 'a listener of the bus failed'))
