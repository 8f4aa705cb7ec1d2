import { chosenIdRule, type ErrorStatus, isChosenId } from '@plenum/protocol'
import { limits, type ServerMessage } from '@plenum/protocol/realtime'
import type { ListName, OpenList } from '../../lists/open-lists.ts'
import type { MessageOf } from '../../messages/message.ts'
import type { JsonHost } from './host.ts'

/** The operation that reads each list, and its filter by id. */
const reads = {
  documents: { operation: 'documents.list', filter: 'documentIds' },
  people: { operation: 'users.list', filter: 'userIds' },
} as const

const listReadBy = (operation: string): ListName | undefined =>
  operation === reads.documents.operation
    ? 'documents'
    : operation === reads.people.operation
      ? 'people'
      : undefined

interface Page {
  data: Record<string, unknown>[]
}

/** The statuses for a user who may not read the list. */
const deniedStatuses: ReadonlySet<ErrorStatus> = new Set(['PERMISSION_DENIED', 'NOT_FOUND'])

type Change = Pick<ServerMessage & { type: 'listChanged' }, 'reset' | 'items' | 'recheck'>

/** What the client has of a list that it has open. */
interface Shown {
  opened: OpenList
  /** Whether the client got any item. Until then it is not told of changes that it may not see: only that they happened would be news. */
  hasItems: boolean
  /** Whether such a change happened. The client may have read its first items just before. */
  hasMissed: boolean
}

/** The lists of documents and people that a client at `/realtime` has open. */
export class JsonLists {
  readonly #host: JsonHost
  readonly #open = new Map<string, Shown>()
  readonly #closed = new AbortController()

  constructor(host: JsonHost) {
    this.#host = host
  }

  open({ id, organizationId, list }: MessageOf<'openList'>): void {
    const { identity, services } = this.#host
    if (!isChosenId(organizationId))
      return this.#host.refuse({ id }, 'INVALID_ARGUMENT', `organizationId ${chosenIdRule}`)
    if (identity.access === 'backend')
      return this.#host.refuse({ id }, 'PERMISSION_DENIED', 'A backend has no lists.')
    const key = keyOf(organizationId, list)
    if (!this.#open.has(key)) {
      if (this.#open.size >= limits.lists) {
        const message = `A connection has at most ${limits.lists} lists open.`
        return this.#host.refuse({ id }, 'RESOURCE_EXHAUSTED', message)
      }
      const { apiKey, userId } = identity
      const onChanged = (ids: readonly string[] | undefined) => this.#tell(organizationId, list, ids)
      const opened = { apiKey, organizationId, userId, list, onChanged }
      this.#open.set(key, { opened, hasItems: false, hasMissed: false })
      services.lists.add(opened)
    }
    this.#host.send({ type: 'done', id })
  }

  close({ organizationId, list }: Pick<OpenList, 'organizationId' | 'list'>): void {
    const key = keyOf(organizationId, list)
    const shown = this.#open.get(key)
    if (!shown) return
    this.#open.delete(key)
    this.#host.services.lists.delete(shown.opened)
  }

  /** The client got the answer to a call, perhaps of an operation that reads a list. */
  onAnswer(operation: string, input: string, result: Buffer): void {
    const list = listReadBy(operation)
    if (this.#open.size === 0 || !list || !result.includes('"data":[{')) return
    const { organizationId } = JSON.parse(input) as { organizationId: string }
    const shown = this.#open.get(keyOf(organizationId, list))
    if (!shown) return
    shown.hasItems = true
    if (shown.hasMissed) this.#send(shown, { recheck: true })
  }

  /** The user has a new token, which may permit more or less. */
  renew(): void {
    for (const shown of this.#open.values()) this.#send(shown, { reset: true })
  }

  closeAll(): void {
    this.#closed.abort()
    for (const { opened } of this.#open.values()) this.close(opened)
  }

  /** Reads what changed as the user, with the operation that decides what the user sees. `ids`: undefined if it may be anything. */
  async #tell(organizationId: string, list: ListName, ids: readonly string[] | undefined): Promise<void> {
    const shown = this.#shown(organizationId, list)
    if (!shown) return
    if (!ids && shown.hasItems) return this.#send(shown, { reset: true })
    const filter = ids ? { [reads[list].filter]: ids, pageSize: ids.length } : { pageSize: 1 }
    const page = await this.#read(list, { organizationId, ...filter })
    if (this.#shown(organizationId, list) !== shown) return
    const items = page === 'denied' || page === undefined ? [] : page.data
    if (!shown.hasItems && page && items.length === 0) shown.hasMissed = true
    else if (!ids || !page || page === 'denied') this.#send(shown, { reset: true })
    else {
      shown.hasItems = true
      this.#send(shown, { items, recheck: items.length < ids.length })
    }
  }

  /** Undefined: the list cannot be read now. */
  async #read(list: ListName, input: object): Promise<Page | 'denied' | undefined> {
    const answer = await this.#host.services.calls.run(this.#host.identity, {
      operation: reads[list].operation,
      input: JSON.stringify(input),
      idempotencyKey: undefined,
      bytes: 0,
      abandoned: this.#closed.signal,
    })
    if ('error' in answer) return deniedStatuses.has(answer.error.status) ? 'denied' : undefined
    answer.onSent?.()
    return JSON.parse(answer.result.toString()) as Page
  }

  #send(shown: Shown, what: Partial<Change>): void {
    const { organizationId, list } = shown.opened
    shown.hasMissed = false
    // The client reads the list again.
    if (what.reset) shown.hasItems = false
    this.#host.send({
      type: 'listChanged',
      organizationId,
      list,
      reset: false,
      items: [],
      recheck: false,
      ...what,
    })
  }

  #shown(organizationId: string, list: ListName): Shown | undefined {
    return this.#closed.signal.aborted ? undefined : this.#open.get(keyOf(organizationId, list))
  }
}

const keyOf = (organizationId: string, list: ListName) => `${list} ${organizationId}`
