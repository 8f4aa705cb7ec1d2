import { setImmediate } from 'node:timers/promises'
import type { Bus, BusMessage } from '../../bus.ts'
import { isLoopLate } from '../../platform/turns/loop-time.ts'

/** An inbox that a client has open. */
export interface OpenInbox {
  readonly apiKey: string
  readonly organizationId: string
  readonly userId: string
  onChanged(): void
}

/** Inboxes by organization and user. */
type Organizations = Map<string, Map<string, Set<OpenInbox>>>

/**
 * The inboxes that clients of this server have open. They are notified that something may have changed, but not what: they
 * read it with the operation that decides what their user may see.
 */
export class OpenInboxes {
  readonly #byApiKey = new Map<string, Organizations>()
  /** Inboxes that changed and were not notified yet. */
  readonly #changed = new Set<OpenInbox>()
  #isNotifying = false
  readonly #unsubscribe: () => void

  constructor({ bus }: { bus: Bus }) {
    this.#unsubscribe = bus.subscribe((message) => this.#receive(message))
  }

  add(inbox: OpenInbox): void {
    const organizations = entry(this.#byApiKey, inbox.apiKey, () => new Map())
    const users = entry(organizations, inbox.organizationId, () => new Map())
    entry(users, inbox.userId, () => new Set()).add(inbox)
  }

  delete(inbox: OpenInbox): void {
    const { apiKey, organizationId, userId } = inbox
    const organizations = this.#byApiKey.get(apiKey)
    const users = organizations?.get(organizationId)
    const inboxes = users?.get(userId)
    this.#changed.delete(inbox)
    inboxes?.delete(inbox)
    if (inboxes?.size === 0) users?.delete(userId)
    if (users?.size === 0) organizations?.delete(organizationId)
    if (organizations?.size === 0) this.#byApiKey.delete(apiKey)
  }

  #receive(message: BusMessage): void {
    const organizations = this.#byApiKey.get(message.apiKey)
    if (!organizations) return
    switch (message.kind) {
      case 'access':
        for (const id of message.organizationIds ?? organizations.keys())
          this.#onChanged(organizations.get(id), message.userIds)
        break
      case 'inbox':
        this.#onChanged(organizations.get(message.organizationId), message.userIds)
        break
      case 'gone':
        this.#onChanged(organizations.get(message.organizationId))
        break
    }
  }

  /** Without `userIds`, all inboxes of the organization may have changed. */
  #onChanged(users: Map<string, Set<OpenInbox>> | undefined, userIds?: readonly string[]): void {
    if (!users) return
    for (const userId of userIds ?? users.keys())
      for (const inbox of users.get(userId) ?? []) this.#changed.add(inbox)
    if (!this.#isNotifying && this.#changed.size > 0) void this.#notifyChanged()
  }

  /** Pauses in between, because an organization may have very many clients. */
  async #notifyChanged(): Promise<void> {
    this.#isNotifying = true
    await setImmediate()
    for (const inbox of this.#changed) {
      if (isLoopLate()) await setImmediate()
      if (this.#changed.delete(inbox)) inbox.onChanged()
    }
    this.#isNotifying = false
  }

  close(): void {
    this.#unsubscribe()
  }
}

function entry<K, V>(map: Map<K, V>, key: K, create: () => V): V {
  const known = map.get(key)
  if (known !== undefined) return known
  const created = create()
  map.set(key, created)
  return created
}
