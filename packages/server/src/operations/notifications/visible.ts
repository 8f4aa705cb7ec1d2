import { createSessionVisible, evaluateDocuments } from '../../access/sessions/session-access.ts'
import type { Call, UserCaller } from '../../calls/call.ts'
import type { AroundQuestion, ProviderAnswers } from '../../access/provider/permission-provider.ts'
import { mapYielding } from '../../platform/turns/loop-time.ts'
import { findAudiences } from '../../store/comments/audiences.ts'
import type { Audience } from '../../store/comments/audience.ts'
import { scanningAll, type Scanning } from '../../store/engine/scan.ts'
import { slices } from '../../store/engine/slices.ts'
import type { About, KeepVisible, StoredNotification } from '../../store/notifications/lists.ts'
import { unique } from '../shared/batches.ts'

/** The parts of a call that the check uses. */
interface ReadingCall extends Pick<Call, 'db' | 'now' | 'services'> {
  caller: UserCaller
  input: { organizationId: string }
}

/** The checks may ask the permission provider. */
interface Options {
  scanning?: Scanning
  /** Asks the permission provider. */
  around?: AroundQuestion
}

/** Documents that are decided together. */
const documentsTogether = 500
/** To decide about a document costs as much as to scan this many rows. */
const rowsPerDocument = 10

/**
 * Which notifications a user may read (spec 18.2.1): one about a comment only while the user can read the document and sees
 * the annotation, and one with an access context only while the user holds every field of it. A calling user also needs
 * access to the documents of all other notifications; a backend decides itself whom it shows them.
 */
export class VisibleNotifications {
  readonly #call: ReadingCall
  readonly #userId: string
  readonly #scanning: Scanning
  readonly #around: AroundQuestion | undefined
  readonly #isReadable = new Map<string, boolean>()
  /** Whether the user sees the annotation, by document and annotation. */
  readonly #seen = new Map<string, boolean>()

  constructor(call: ReadingCall, userId: string, { scanning = scanningAll(), around }: Options = {}) {
    this.#call = call
    this.#userId = userId
    this.#scanning = scanning
    this.#around = around
  }

  /** Keeps notifications as far as their documents and annotations decide. Their content may still hide them. */
  readonly keepPositions: KeepVisible = async (positions) => {
    const visible = await this.#areVisible(positions.flatMap(({ about }) => about ?? []))
    return positions.filter(({ about }) => about !== undefined && visible(about))
  }

  /** Keeps what the access contexts in the contents allow. */
  async keepHeld(rows: readonly StoredNotification[]): Promise<StoredNotification[]> {
    const audiences = rows.map(audienceOf)
    const isVisible = await this.#maySee(audiences)
    return rows.filter((_, index) => isVisible(audiences[index] ?? null))
  }

  async keep(rows: readonly StoredNotification[]): Promise<StoredNotification[]> {
    const held = await this.keepHeld(rows)
    const visible = await this.#areVisible(held.map(aboutOf))
    return held.filter((row) => visible(aboutOf(row)))
  }

  get #session() {
    return this.#call.caller.user?.session ?? { userId: this.#userId, resources: [] }
  }

  #needsAccess({ annotationId }: About): boolean {
    return this.#call.caller.user !== undefined || annotationId !== null
  }

  async #areVisible(all: readonly About[]): Promise<(about: About) => boolean> {
    const checked = all.filter((about) => this.#needsAccess(about))
    await this.#decide(unique(checked.map(({ documentId }) => documentId)))
    const isReadable = ({ documentId }: About) => this.#isReadable.get(documentId) === true
    await this.#learnAnnotations(checked.filter(isReadable))
    return (about) => {
      if (!this.#needsAccess(about)) return true
      return isReadable(about) && (about.annotationId === null || this.#seen.get(nameOf(about)) === true)
    }
  }

  async #decide(documentIds: readonly string[]): Promise<void> {
    const { db, caller, now, input, services } = this.#call
    const unknown = documentIds.filter((id) => !this.#isReadable.has(id))
    this.#scanning.rowsLeft -= unknown.length * rowsPerDocument
    for (const some of slices(unknown, documentsTogether)) {
      const check = async (answers: ProviderAnswers | undefined) => {
        const { organizationId } = input
        const access = await evaluateDocuments(
          db,
          caller,
          organizationId,
          some,
          this.#session,
          now / 1000,
          answers,
        )
        return mapYielding(some, (id) => [id, access(id).decision.allowed] as const)
      }
      const decided = await services.permissionProvider.check(caller, check, this.#around)
      for (const [id, isAllowed] of decided) this.#isReadable.set(id, isAllowed)
    }
  }

  async #learnAnnotations(readable: readonly About[]): Promise<void> {
    const { db, caller, input } = this.#call
    const { apiKey } = caller
    const unknown = new Map(
      readable.flatMap(({ documentId, annotationId }) => {
        const name = nameOf({ documentId, annotationId })
        return annotationId === null || this.#seen.has(name) ? [] : [[name, { documentId, annotationId }]]
      }),
    )
    if (unknown.size === 0) return
    for (const name of unknown.keys()) this.#seen.set(name, false)
    const query: Scanning['query'] = (statement) => this.#scanning.query(statement)
    const found = await findAudiences(db, apiKey, input.organizationId, [...unknown.values()], query)
    const isVisible = await this.#maySee(found.map(({ audience }) => audience))
    for (const one of found) this.#seen.set(nameOf(one), isVisible(one.audience))
  }

  async #maySee(audiences: readonly (Audience | null)[]): Promise<(audience: Audience | null) => boolean> {
    if (audiences.every((audience) => audience === null)) return () => true
    const { db, caller, now, input } = this.#call
    return createSessionVisible(db, caller.apiKey, input.organizationId, this.#session, now)(audiences)
  }
}

const nameOf = ({ documentId, annotationId }: About) => JSON.stringify([documentId, annotationId])

const aboutOf = ({ documentId, content }: StoredNotification): About => ({
  documentId,
  annotationId: content.targetAnnotationId ?? null,
})

/** Who may read a notification by its access context. */
function audienceOf({ content: { context } }: StoredNotification): Audience | null {
  const fields = Object.entries((context?.access ?? {}) as Record<string, string | number>)
  return fields.length === 0 ? null : { access: fields.map(([key, value]) => `${key}:${value}`) }
}
