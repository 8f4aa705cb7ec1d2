import { chosenIdRule, isChosenId } from '@plenum/protocol'
import { limits } from '@plenum/protocol/realtime'
import type { OpenInbox } from '../../inboxes/open-inboxes.ts'
import type { MessageOf } from '../../messages/message.ts'
import type { JsonHost } from './host.ts'

/** The inboxes that a client at `/realtime` has open. */
export class JsonInboxes {
  readonly #host: JsonHost
  readonly #open = new Map<string, OpenInbox>()

  constructor(host: JsonHost) {
    this.#host = host
  }

  open({ id, organizationId }: MessageOf<'openInbox'>): void {
    const { identity, services } = this.#host
    const { apiKey, userId } = identity
    if (!isChosenId(organizationId))
      return this.#host.refuse({ id }, 'INVALID_ARGUMENT', `organizationId ${chosenIdRule}`)
    if (identity.isAccepted) return this.#host.refuse({ id }, 'PERMISSION_DENIED', 'A backend has no inbox.')
    if (!this.#open.has(organizationId)) {
      if (this.#open.size >= limits.inboxes) {
        const message = `A connection has at most ${limits.inboxes} inboxes open.`
        return this.#host.refuse({ id }, 'RESOURCE_EXHAUSTED', message)
      }
      const onChanged = () => this.#host.send({ type: 'inboxChanged', organizationId })
      const inbox = { apiKey, organizationId, userId, onChanged }
      this.#open.set(organizationId, inbox)
      services.inboxes.add(inbox)
    }
    this.#host.send({ type: 'done', id })
  }

  close(organizationId: string): void {
    const inbox = this.#open.get(organizationId)
    if (!inbox) return
    this.#open.delete(organizationId)
    this.#host.services.inboxes.delete(inbox)
  }

  closeAll(): void {
    for (const organizationId of this.#open.keys()) this.close(organizationId)
  }
}
