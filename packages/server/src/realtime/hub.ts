import { setImmediate } from 'node:timers/promises'
import type { Credentials } from '../access/credentials.ts'
import type { Decision } from '../access/permissions.ts'
import { evaluate } from '../access/session-access.ts'
import { openDocument } from '../access/sign-in.ts'
import type { Bus, BusMessage } from '../platform/bus.ts'
import type { Log } from '../platform/log.ts'
import type { Database } from '../store/db.ts'
import * as editorLog from '../store/editor-log.ts'
import { Appender } from './appender.ts'
import type { Connection } from './connection.ts'
import type { Crdt } from './crdt.ts'
import { EditorRoom } from './editor-room.ts'
import type { Identity } from './identify.ts'
import { OpenDocument } from './open-document.ts'
import { type Listener, Participant } from './participant.ts'

export interface HubParts {
  database: Database
  credentials: Credentials
  bus: Bus
  crdt: Crdt
  log: Log
  now: () => number
}

/** Awareness of a room is told together when it changes several times within this. */
const awarenessMs = 15
/** A room that nobody has open is kept so long, for those who come back. */
const keptSweeps = 20

/** Documents that are judged together when access changes. */
const judgedTogether = 16

interface OpenKey {
  /** Counts the changes of access. */
  epoch: number
  documents: Map<string, OpenDocument>
}

/** All open documents of this server, and what happens to them from outside. */
export class Hub {
  readonly #parts: HubParts
  readonly #keys = new Map<string, OpenKey>()
  readonly #appender: Appender
  readonly #unsubscribe: () => void
  readonly #changedAwareness = new Set<EditorRoom>()
  readonly #idleSweeps = new WeakMap<EditorRoom, number>()

  constructor(parts: HubParts) {
    this.#parts = parts
    this.#appender = new Appender(parts)
    this.#unsubscribe = parts.bus.subscribe((message) => this.#receive(message))
  }

  join(
    connection: Connection,
    identity: Identity,
    { organizationId, documentId }: { organizationId: string; documentId: string },
    listener: Listener,
  ): Participant {
    const document = this.#open(identity.apiKey, organizationId, documentId)
    const participant = new Participant(connection, identity, document, listener)
    document.join(participant)
    return participant
  }

  #open(apiKey: string, organizationId: string, documentId: string): OpenDocument {
    const key = this.#keys.get(apiKey) ?? { epoch: 0, documents: new Map() }
    this.#keys.set(apiKey, key)
    const id = idOf(organizationId, documentId)
    let document = key.documents.get(id)
    if (document === undefined) {
      document = new OpenDocument({
        apiKey,
        organizationId,
        documentId,
        now: this.#parts.now,
        epoch: () => key.epoch,
        evaluate: (document, participants) => this.#evaluate(document, participants),
        load: (document, editorId) => this.#load(document, editorId),
        grown: (room) => void this.#appender.catchUp(room),
        failed: (error) =>
          this.#parts.log.error({ err: error, organizationId, documentId }, 'access not judged'),
      })
      key.documents.set(id, document)
    }
    return document
  }

  async #evaluate(document: OpenDocument, participants: readonly Participant[]): Promise<Decision[]> {
    const { database, credentials, now } = this.#parts
    const { apiKey, organizationId, documentId } = document
    const key = await credentials.apiKey(apiKey)
    if (!key)
      return participants.map(() => ({ allowed: false, reason: 'unauthenticated', accessType: 'restricted' }))
    const users = participants.map(({ identity }) => identity.access)
    const seconds = Math.floor(now() / 1000)
    const decisions = await evaluate(database.read, key.caller, organizationId, documentId, users, seconds)
    // Whoever opens a document that is not there makes it (spec 0.8).
    if (!document.exists && decisions.some(({ allowed }) => allowed)) {
      await openDocument(database, key.caller, organizationId, documentId, now())
      document.exists = true
    }
    return decisions
  }

  async #load(document: OpenDocument, editorId: string): Promise<EditorRoom> {
    const { database, crdt, log } = this.#parts
    const { apiKey, organizationId, documentId } = document
    const place = { organizationId, documentId, editorId }
    try {
      const stored = await editorLog.load(database.read, apiKey, place)
      if (stored && !stored.complete) throw new Error('Updates are missing from the log.')
      const updates = stored?.updates.map(({ bytes }) => bytes) ?? []
      const index = await crdt.index(stored?.snapshot ? [stored.snapshot, ...updates] : updates)
      return new EditorRoom({
        apiKey,
        place,
        index,
        stored,
        crdt,
        wake: this.#appender.wake,
        awarenessChanged: (room) => this.#awarenessChanged(room),
        drop: (room, reason, message) => {
          document.forget(room)
          for (const member of [...room.members]) member.end(reason, message)
        },
      })
    } catch (error) {
      log.error({ err: error, ...place }, 'an editor cannot be read')
      throw error
    }
  }

  #awarenessChanged(room: EditorRoom): void {
    if (this.#changedAwareness.size === 0) {
      setTimeout(() => {
        for (const one of this.#changedAwareness) one.publishAwareness()
        this.#changedAwareness.clear()
      }, awarenessMs)
    }
    this.#changedAwareness.add(room)
  }

  #receive(message: BusMessage): void {
    const key = this.#keys.get(message.apiKey)
    if (!key) return
    switch (message.kind) {
      case 'access':
        if (message.userId !== undefined) judgeAgain(key, message.userId)
        else {
          key.epoch++
          void this.#judgeAll(key)
        }
        break
      case 'credentials':
        for (const document of key.documents.values()) {
          for (const participant of [...document.participants]) {
            if (participant.identity.access === 'server')
              participant.end('unauthenticated', 'token_invalid: The auth token was reset.')
          }
        }
        break
      case 'editor':
        this.#find(message)?.grown(message.editorId)
        break
      case 'gone':
        for (const document of this.#documentsOf(message)) document.reset('gone', 'The document was deleted.')
        break
    }
  }

  /** A few at a time: a key may have thousands of documents open, and others want their turn. */
  async #judgeAll(key: OpenKey): Promise<void> {
    const { epoch } = key
    const documents = [...key.documents.values()]
    for (let from = 0; from < documents.length && epoch === key.epoch; from += judgedTogether) {
      await Promise.all(documents.slice(from, from + judgedTogether).map((document) => document.judge()))
      await setImmediate()
    }
  }

  #find({ apiKey, organizationId, documentId }: Extract<BusMessage, { kind: 'editor' }>) {
    return this.#keys.get(apiKey)?.documents.get(idOf(organizationId, documentId))
  }

  #documentsOf({
    apiKey,
    organizationId,
    documentIds,
  }: Extract<BusMessage, { kind: 'gone' }>): OpenDocument[] {
    const documents = [...(this.#keys.get(apiKey)?.documents.values() ?? [])]
    return documents.filter(
      (one) => one.organizationId === organizationId && (documentIds?.includes(one.documentId) ?? true),
    )
  }

  /** Twice a second: judgements that time has ended, updates that wait in vain, rooms that nobody needs. */
  sweep(): void {
    const now = this.#parts.now()
    for (const [apiKey, key] of this.#keys) {
      for (const [id, document] of key.documents) {
        let isCurrent = true
        for (const participant of document.participants) {
          isCurrent &&= participant.isCurrent(now)
          participant.warn(now)
        }
        if (!isCurrent) void document.judge()
        for (const { room } of document.editors.values()) if (room) this.#sweepRoom(document, room)
        if (document.participants.size === 0 && document.editors.size === 0) key.documents.delete(id)
      }
      if (key.documents.size === 0) this.#keys.delete(apiKey)
    }
  }

  #sweepRoom(document: OpenDocument, room: EditorRoom): void {
    room.expireEarly()
    for (const member of room.members) member.makeUp()
    const idle = room.isIdle ? (this.#idleSweeps.get(room) ?? 0) + 1 : 0
    this.#idleSweeps.set(room, idle)
    if (idle > keptSweeps) document.forget(room)
  }

  /** Everything that was sent is stored and told. */
  idle(): Promise<void> {
    return this.#appender.idle()
  }

  close(): void {
    this.#unsubscribe()
  }
}

/** Ids have no slash. */
const idOf = (organizationId: string, documentId: string) => `${organizationId}/${documentId}`

function judgeAgain(key: OpenKey, userId: string): void {
  for (const document of key.documents.values()) {
    for (const participant of document.participants) {
      if (participant.identity.userId === userId) participant.judgeAgain()
    }
  }
}
