import type { VersionInfo, VersionUser } from '@plenum/protocol/realtime'
import type { Log } from './log/log.ts'

interface InDocument {
  apiKey: string
  organizationId: string
  documentId: string
}

/** Who may do more or less than before: these users, anybody in these organizations or documents, or anybody at all. */
export interface AccessScope {
  userIds?: readonly string[]
  organizationIds?: readonly string[]
  /** Documents of that organization. */
  documentIds?: readonly string[] | undefined
}

/** What has happened, and is durable. */
export type BusMessage =
  /** Somebody may do more or less than before. */
  | ({ kind: 'access'; apiKey: string } & AccessScope)
  /** The auth token was reset. */
  | { kind: 'credentials'; apiKey: string }
  /** The allowed domains have changed. */
  | { kind: 'domains'; apiKey: string }
  /** The log of an editor grew, or there is one now. */
  | ({ kind: 'editor'; editorId: string } & InDocument)
  /** A version of an editor was added. */
  | ({ kind: 'versionAdded'; editorId: string; version: VersionInfo } & InDocument)
  /** A version of an editor was restored, by that user if a user did it. */
  | ({
      kind: 'versionRestored'
      editorId: string
      version: VersionInfo
      restoredBy?: VersionUser | undefined
    } & InDocument)
  /** Live states were set, by that change of the document. */
  | ({ kind: 'liveState'; seq: number } & InDocument)
  /** The entries of these users that a backend keeps have changed; with `removed` there are none any more. */
  | ({ kind: 'presence'; userIds: readonly string[]; removed?: boolean } & InDocument)
  /** Documents were deleted, or moved to another id; all of the organization if none are named. */
  | {
      kind: 'gone'
      apiKey: string
      organizationId: string
      documentIds?: readonly string[]
      isMoved?: boolean
    }
  /** Presence, live states and editors of these documents may all be different; of all in the organization if none are named. */
  | { kind: 'changed'; apiKey: string; organizationId: string; documentIds?: readonly string[] }

/** What to publish instead when it is unknown whether the write was committed: open sessions read the documents again. */
export function uncertain(message: BusMessage): BusMessage {
  if (!('organizationId' in message)) return message
  const { apiKey, organizationId } = message
  const documentIds = 'documentId' in message ? [message.documentId] : message.documentIds
  return { kind: 'changed', apiKey, organizationId, ...(documentIds && { documentIds }) }
}

/** A message as the operations of an API key send it. */
export type Emitted = BusMessage extends infer Message
  ? Message extends BusMessage
    ? Omit<Message, 'apiKey'>
    : never
  : never

/** Tells those who follow along. Nothing depends on it: what was missed is found in the database. */
export interface Bus {
  publish(message: BusMessage): void
  /** Returns what ends the subscription. */
  subscribe(listener: (message: BusMessage) => void): () => void
}

/** Within one process: when `publish` returns, everybody has heard. */
export function createMemoryBus(log: Log): Bus {
  const listeners = new Set<(message: BusMessage) => void>()
  return {
    publish(message) {
      for (const listener of listeners) {
        try {
          listener(message)
        } catch (error) {
          log.error({ err: error, kind: message.kind }, 'a listener of the bus failed')
        }
      }
    },
    subscribe(listener) {
      // Each subscription is its own, even of the same function.
      const own = (message: BusMessage) => listener(message)
      listeners.add(own)
      return () => void listeners.delete(own)
    },
  }
}
