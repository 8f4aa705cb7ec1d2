import { chosenIdRule, isChosenId } from '@plenum/protocol'
import { limits } from '@plenum/protocol/realtime'
import type { ListName, OpenList } from '../../lists/open-lists.ts'
import type { MessageOf } from '../../messages/message.ts'
import type { JsonHost } from './host.ts'

/** The operation that reads each list, and its filter by id. */
const reads = {
  documents: { operation: 'documents.list', filter: 'documentIds' },
  people: { operation: 'users.list', filter: 'userIds' },
} as const

/** The lists of documents and people that a client at `/realtime` has open. */
export class JsonLists {
  readonly #host: JsonHost
  readonly #open = new Map<string, OpenList>()
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
      this.#open.set(key, opened)
      services.lists.add(opened)
    }
    this.#host.send({ type: 'done', id })
  }

  close({ organizationId, list }: Pick<OpenList, 'organizationId' | 'list'>): void {
    const key = keyOf(organizationId, list)
    const opened = this.#open.get(key)
    if (!opened) return
    this.#open.delete(key)
    this.#host.services.lists.delete(opened)
  }

  /** The user has a new token, which may permit more or less. */
  renew(): void {
    for (const { organizationId, list } of this.#open.values()) this.#reset(organizationId, list)
  }

  closeAll(): void {
    this.#closed.abort()
    for (const opened of this.#open.values()) this.close(opened)
  }

  /** Reads what changed as the user, with the operation that decides what the user sees. */
  async #tell(organizationId: string, list: ListName, ids: readonly string[] | undefined): Promise<void> {
    if (!this.#isOpen(organizationId, list)) return
    if (!ids) return this.#reset(organizationId, list)
    const { operation, filter } = reads[list]
    const answer = await this.#host.services.calls.run(this.#host.identity, {
      operation,
      input: JSON.stringify({ organizationId, [filter]: ids, pageSize: ids.length }),
      idempotencyKey: undefined,
      bytes: 0,
      abandoned: this.#closed.signal,
    })
    if ('result' in answer) answer.onSent?.()
    if (!this.#isOpen(organizationId, list)) return
    if ('error' in answer) return this.#reset(organizationId, list)
    const { data } = JSON.parse(answer.result.toString()) as { data: Record<string, unknown>[] }
    const recheck = data.length < ids.length
    this.#host.send({ type: 'listChanged', organizationId, list, reset: false, items: data, recheck })
  }

  #reset(organizationId: string, list: ListName): void {
    this.#host.send({ type: 'listChanged', organizationId, list, reset: true, items: [], recheck: false })
  }

  #isOpen(organizationId: string, list: ListName): boolean {
    return !this.#closed.signal.aborted && this.#open.has(keyOf(organizationId, list))
  }
}

const keyOf = (organizationId: string, list: ListName) => `${list} ${organizationId}`
