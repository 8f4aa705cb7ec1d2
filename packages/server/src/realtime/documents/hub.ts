import type { Credentials } from '../../access/credentials.ts'
import type { Deletions } from '../../access/deletions.ts'
import type { Decision } from '../../access/permissions.ts'
import { evaluate } from '../../access/session-access.ts'
import { openDocument } from '../../access/tokens/sign-in.ts'
import type { Limits } from '../../config.ts'
import { sourceOf } from '../../crdt/document-threads.ts'
import type { StoredDocuments } from '../../crdt/stored-documents.ts'
import type { BusMessage } from '../../platform/bus.ts'
import { breathe } from '../../platform/turns/loop-time.ts'
import { LoopTurns } from '../../platform/turns/loop-turns.ts'
import type { LiveNumbers } from '../../platform/metrics/live-metrics.ts'
import * as editorLog from '../../store/editors/log.ts'
import { readSince } from '../../store/documents/live-state-log.ts'
import * as presence from '../../store/documents/presence.ts'
import { Appender, type AppenderParts } from '../rooms/appender.ts'
import { Commits } from '../authorization/commits.ts'
import { CreationLimits, type CreationRefusal } from '../authorization/creation-limits.ts'
import { Declarations } from '../editors/declarations.ts'
import { EditorRoom } from '../rooms/room.ts'
import { FairTurns } from '../../platform/turns/fair-turns.ts'
import { Gate } from '../../platform/turns/gate.ts'
import type { Identity } from '../authorization/identify.ts'
import type { LargeJson } from '../messages/large-json.ts'
import { LargeMessages } from '../messages/large-messages.ts'
import { LiveStateWriter } from '../live-states/live-state-writer.ts'
import { OpenDocument } from './open-document.ts'
import { idOf, OpenKey } from './open-key.ts'
import { StepTaker } from '../../platform/turns/step-taker.ts'
import { type Listener, Participant, type Verdict } from './participant.ts'
import { type Fault, faultCodes } from '../../crdt/updates/update-reader.ts'
import { type RunVersionOperation, VersionRequests } from '../editors/version-requests.ts'
import type { WorkHost } from '../../platform/turns/work-queue.ts'

export interface HubParts extends Omit<AppenderParts, 'commits'> {
  largeJson: LargeJson
  storedDocuments: StoredDocuments
  credentials: Credentials
  deletions: Deletions
  limits: Limits
  runVersionOperation: RunVersionOperation
}

/** A room that nobody has open is kept so long, for those who come back. */
const keptSweeps = 20

/**
 * Clients for whom the database is asked at a time. Thousands may come at once, and whoever waits for a connection to the
 * database for too long fails: all of them would, one after the other, and everybody else.
 */
const askedAtOnce = 8

const wasMoved = 'The document was moved to another id.'

/** All open documents of this server, and what happens to them from outside. */
export class Hub {
  readonly #parts: HubParts
  readonly #keys = new Map<string, OpenKey>()
  /** For whatever asks the database because a client came. The lanes of a tenant are its users. */
  readonly gate = new Gate(askedAtOnce)
  /** For what clients send, and what is sent to many of them. */
  readonly turns = new FairTurns()
  /** For parts of large live states. */
  readonly #largeReads = new LoopTurns()
  readonly #commits: Commits
  readonly #appender: Appender
  readonly #creations: CreationLimits
  readonly largeMessages: LargeMessages
  /** Stores what clients set. */
  readonly liveStates: LiveStateWriter
  /** By reason, since the start. */
  readonly #refusedUpdates = noRefusals()
  readonly declarations: Declarations
  readonly versions: VersionRequests
  readonly #unsubscribe: () => void
  #sweeping: Promise<void> | undefined
  readonly #idleSweeps = new WeakMap<EditorRoom, number>()

  constructor(parts: HubParts) {
    this.#parts = parts
    this.#commits = new Commits(parts.database)
    this.#appender = new Appender({ ...parts, commits: this.#commits })
    this.#creations = new CreationLimits(parts)
    this.largeMessages = new LargeMessages(parts)
    this.liveStates = new LiveStateWriter({ ...parts, commits: this.#commits })
    this.declarations = new Declarations({ ...parts, commits: this.#commits, gate: this.gate })
    this.versions = new VersionRequests({ ...parts, commits: this.#commits })
    this.#unsubscribe = parts.bus.subscribe((message) => this.#receive(message))
  }

  join(
    host: WorkHost,
    identity: Identity,
    { organizationId, documentId }: { organizationId: string; documentId: string },
    listener: Listener,
  ): Participant {
    const document = this.#open(identity.apiKey, organizationId, documentId)
    const participant = new Participant(host, identity, document, listener)
    document.join(participant)
    return participant
  }

  #open(apiKey: string, organizationId: string, documentId: string): OpenDocument {
    const key = this.#keys.get(apiKey) ?? new OpenKey()
    this.#keys.set(apiKey, key)
    const id = idOf(organizationId, documentId)
    let document = key.documents.get(id)
    if (document === undefined) {
      const failed = (error: unknown) =>
        this.#parts.log.error(
          { err: error, organizationId, documentId },
          'something of an open document could not be read',
        )
      document = new OpenDocument({
        apiKey,
        organizationId,
        documentId,
        now: this.#parts.now,
        epochOf: (userId) => key.epochOf(userId),
        evaluate: (document, participants) => this.#evaluateSettled(document, participants),
        load: (document, editorId) => this.#load(document, editorId),
        grown: (room) => void this.#appender.catchUp(room),
        readPresence: (document, userIds) =>
          this.gate.pass(apiKey, () => this.#readPresence(document, userIds), laneOf(document.participants)),
        readLiveStates: (document, seq) =>
          this.gate.pass(apiKey, () => this.#readLiveStates(document, seq), laneOf(document.participants)),
        pauseReading: () => this.#largeReads.wait(apiKey),
        run: (document, steps) => this.#run(document, steps),
        onUpdateRefused: (reason) => this.#refusedUpdates[reason]++,
        failed,
        ended: (document) => forget(key, id, document),
      })
      key.documents.set(id, document)
    }
    return document
  }

  /** Waits for a deletion outside of the gate, so that nobody waits with it. */
  async #evaluateSettled(document: OpenDocument, participants: readonly Participant[]): Promise<Verdict[]> {
    for (;;) {
      const verdicts = await this.gate.pass(
        document.apiKey,
        () => this.#evaluate(document, participants),
        judgedIn(participants),
      )
      if (verdicts !== 'being deleted') return verdicts
      await this.#parts.deletions.settled(document.apiKey, mentionOf(document))
    }
  }

  async #evaluate(
    document: OpenDocument,
    participants: readonly Participant[],
  ): Promise<Verdict[] | 'being deleted'> {
    const { database, credentials, deletions, now } = this.#parts
    const { apiKey, organizationId, documentId } = document
    const key = await credentials.apiKey(apiKey)
    if (!key) return participants.map(() => notAccepted)
    if (deletions.mayMeet(key.caller) && (await deletions.meets(apiKey, mentionOf(document)))) {
      return 'being deleted'
    }
    const users = participants.map(({ identity }) => identity.access)
    const seconds = Math.floor(now() / 1000)
    const decisions = await evaluate(database.read, key.caller, organizationId, documentId, users, seconds)
    for (const [index, { identity }] of participants.entries()) {
      if (identity.isAccepted && !(await identity.isAccepted())) decisions[index] = notAccepted
    }
    if (document.exists) return decisions
    // Whoever opens a document that is not there makes it (spec 0.8); not who was sent away because it was deleted.
    const openers = participants.filter((one, index) => decisions[index]?.allowed && !one.hasEnded)
    if (openers.length === 0) return decisions
    const creators = openers.flatMap((one) => (one.mayCreate ? one.identity : []))
    const refusal = await openDocument(database, key.caller, organizationId, documentId, now(), async () =>
      creators.length > 0 ? this.#creations.take(creators) : notThere,
    )
    if (refusal) return decisions.map((decision) => (decision.allowed ? refusal : decision))
    document.exists = true
    return decisions
  }

  async #load(document: OpenDocument, editorId: string): Promise<EditorRoom> {
    const { database, crdt, log } = this.#parts
    const { apiKey, organizationId, documentId } = document
    const place = { organizationId, documentId, editorId }
    try {
      const lane = laneOf(document.participants)
      const stored = await this.gate.pass(apiKey, () => editorLog.load(database.read, apiKey, place), lane)
      await database.durable()
      if (stored && !stored.complete) throw new Error('Updates are missing from the log.')
      const updates = stored?.updates.map(({ bytes }) => bytes) ?? []
      const source = sourceOf(apiKey, place, stored ?? { createdAt: undefined, seq: 0 })
      const index = await crdt.index(source, stored?.snapshot ? [stored.snapshot, ...updates] : updates)
      return new EditorRoom({
        apiKey,
        place,
        index,
        stored,
        crdt,
        maxBytes: this.#parts.limits.editorBytes,
        wake: this.#appender.wake,
        makeSpace: this.#appender.makeSpace,
        run: (steps) => this.#run(document, steps),
        drop: (room, reason, message) => {
          document.forget(room)
          for (const member of room.members) member.end(reason, message)
          // Editors are deleted with their document.
          if (reason === 'gone') document.end(reason, message)
        },
      })
    } catch (error) {
      log.error({ err: error, ...place }, 'an editor cannot be read')
      throw error
    }
  }

  #readPresence(document: OpenDocument, userIds?: readonly string[]): Promise<presence.Present[]> {
    const { read } = this.#parts.database
    const { apiKey, organizationId, documentId } = document
    const now = this.#parts.now()
    return userIds
      ? presence.findMany(read, apiKey, document, userIds, now)
      : presence.list(read, apiKey, organizationId, documentId, now)
  }

  /** Nobody is told what could still be lost. */
  async #readLiveStates(document: OpenDocument, seq: number): ReturnType<typeof readSince> {
    const { database } = this.#parts
    const pause = () => this.#largeReads.wait(document.apiKey)
    const states = await readSince(database.read, document.apiKey, document, seq, pause)
    await database.durable()
    return states
  }

  /** What is sent to many takes the time of the document, so that no user pays for it and documents share alike. */
  #run({ apiKey, organizationId, documentId }: OpenDocument, steps: Iterator<unknown>): void {
    const owner = { apiKey, userId: `document ${idOf(organizationId, documentId)}` }
    const onError = (error: unknown) =>
      this.#parts.log.error({ err: error, organizationId, documentId }, 'a broadcast failed')
    this.turns.add(new StepTaker(owner, steps, onError))
  }

  #receive(message: BusMessage): void {
    const key = this.#keys.get(message.apiKey)
    if (!key) return
    switch (message.kind) {
      case 'access':
        key.accessChanged(message)
        break
      case 'credentials':
        for (const document of key.documents.values()) {
          for (const participant of document.participants) {
            if (participant.identity.access === 'server')
              participant.end('unauthenticated', 'token_invalid: The auth token was reset.')
          }
        }
        break
      case 'editor':
        this.#find(message)?.grown(message.editorId)
        break
      case 'versionAdded': {
        const { version } = message
        this.#find(message)?.versionsChanged(message.editorId, { type: 'versionAdded', version })
        break
      }
      case 'versionRestored': {
        const { version, restoredBy } = message
        this.#find(message)?.versionsChanged(message.editorId, {
          type: 'versionRestored',
          version,
          ...(restoredBy && { restoredBy }),
        })
        break
      }
      case 'liveState':
        this.#find(message)?.liveStates.changed()
        break
      case 'presence':
        void this.#find(message)?.presence.told(message.userIds, message.removed === true)
        break
      case 'changed':
        for (const document of openIn(key, message)) document.readAgain()
        break
      case 'gone':
        for (const document of openIn(key, message)) {
          // The other id is not named: access to the document under it may be different.
          document.end('gone', message.isMoved ? wasMoved : 'The document was deleted.')
        }
        break
    }
  }

  #find({ apiKey, organizationId, documentId }: Extract<BusMessage, { documentId: string }>) {
    return this.#keys.get(apiKey)?.documents.get(idOf(organizationId, documentId))
  }

  /** Twice a second: judgements that time has ended, updates that wait in vain, rooms that nobody needs. */
  sweep(): Promise<void> {
    this.#sweeping ??= this.#sweepAll().finally(() => (this.#sweeping = undefined))
    return this.#sweeping
  }

  async #sweepAll(): Promise<void> {
    for (const [apiKey, key] of this.#keys) {
      for (const [id, document] of key.documents) {
        // Clients may have hundreds of thousands of documents open.
        await breathe()
        this.#sweepDocument(document)
        if (document.participants.size === 0 && document.editors.size === 0) forget(key, id, document)
      }
      if (key.documents.size === 0) this.#keys.delete(apiKey)
    }
  }

  #sweepDocument(document: OpenDocument): void {
    const now = this.#parts.now()
    let isCurrent = true
    for (const participant of document.participants) {
      isCurrent &&= participant.isCurrent(now)
      participant.warn(now)
      participant.makeUp()
    }
    document.presence.sweep(now)
    if (!isCurrent) void document.judge()
    for (const { room } of document.editors.values()) if (room) this.#sweepRoom(document, room)
  }

  #sweepRoom(document: OpenDocument, room: EditorRoom): void {
    room.expireEarly()
    if (room.isScarce) this.#appender.makeSpace(room)
    for (const member of room.members) member.makeUp()
    const idle = room.isIdle ? (this.#idleSweeps.get(room) ?? 0) + 1 : 0
    this.#idleSweeps.set(room, idle)
    if (idle > keptSweeps) document.forget(room)
  }

  get numbers(): Omit<LiveNumbers, 'connections' | 'closes'> {
    let documents = 0
    let editors = 0
    for (const key of this.#keys.values()) {
      documents += key.documents.size
      for (const document of key.documents.values()) editors += document.editors.size
    }
    return { documents, editors, ...this.#appender.stored, refusedUpdates: this.#refusedUpdates }
  }

  /** Resolves when no client's write under that key is being committed; undefined if none is. */
  commitsUnderWay(apiKey: string): Promise<unknown> | undefined {
    return this.#commits.underWay(apiKey)
  }

  /** Everything that was sent is stored and told. */
  async idle(): Promise<void> {
    await this.largeMessages.idle()
    await Promise.all([this.#appender.idle(), this.liveStates.idle()])
    await this.versions.idle()
  }

  close(): void {
    this.#unsubscribe()
  }
}

/** The open documents that a message is about. */
const openIn = (key: OpenKey, message: { organizationId: string; documentIds?: readonly string[] }) =>
  key.within({ ...message, organizationIds: [message.organizationId] })

/** Unless another one has taken its place. */
function forget({ documents }: OpenKey, id: string, document: OpenDocument): void {
  if (documents.get(id) === document) documents.delete(id)
}

/** Who is in a document is judged again beside those who want in, not after them. */
const judgedIn = (participants: readonly Participant[]) =>
  participants.some(({ role }) => role !== undefined) ? `again ${laneOf(participants)}` : laneOf(participants)

/** That of the first of them. */
function laneOf(participants: Iterable<Participant>): string {
  for (const { identity } of participants) return identity.userId
  return ''
}

const noRefusals = () =>
  Object.fromEntries(faultCodes.map((code) => [code, 0])) as Record<Fault['code'], number>

const notThere: CreationRefusal = {
  allowed: false,
  closeReason: 'gone',
  message: 'The document does not exist.',
}

const notAccepted: Decision = { allowed: false, reason: 'unauthenticated', accessType: 'restricted' }

const mentionOf = ({ organizationId, documentId }: OpenDocument) => ({
  isLive: true as const,
  organizationIds: [organizationId],
  documentIds: [documentId],
  folderIds: [],
})
