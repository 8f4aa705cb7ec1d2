import { isUtf8 } from 'node:buffer'
import type { Clock } from '../../../platform/clock.ts'
import { BytePace } from '../../../platform/turns/byte-pace.ts'
import type { EditorSession } from '../../editors/session.ts'
import { bytesOf, type StatelessRefusal } from '../../rooms/stateless-relay.ts'
import { refusal } from './frames.ts'

const maxMessageBytes = 16 * 1024
/** Limit of each connection, after a burst of the same size. */
const maxBytesPerSecond = 32 * 1024

const tooLarge: StatelessRefusal = {
  status: 'INVALID_ARGUMENT',
  message: 'A stateless message has at most 16 KiB.',
}
const tooFast: StatelessRefusal = {
  status: 'RESOURCE_EXHAUSTED',
  message: 'A connection sends at most 32 KiB of stateless messages a second. Further messages are dropped.',
}

/** Relays the stateless messages of one connection, limits their size and rate, and reports refusals to the sender. */
export class StatelessSender {
  readonly #clock: Clock
  readonly #pace = new BytePace(maxBytesPerSecond)
  #wasTooFast = false

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Relays the message. Returns false if its payload is not UTF-8: other providers would fail to decode it. */
  send(name: string, payload: Uint8Array, session: EditorSession): boolean {
    const onRefused = ({ status, message }: StatelessRefusal) => session.send(refusal(name, status, message))
    if (payload.length > maxMessageBytes) onRefused(tooLarge)
    else if (!isUtf8(payload)) return false
    else if (!this.#fitsPace(payload)) {
      // Reported once, and again only after a message was relayed.
      if (!this.#wasTooFast) onRefused(tooFast)
      this.#wasTooFast = true
    } else {
      this.#wasTooFast = false
      // A copy, because the payload may be a small view of a large message.
      session.relay(payload.slice(), onRefused)
    }
    return true
  }

  #fitsPace(payload: Uint8Array): boolean {
    const now = this.#clock.elapsed()
    if (this.#pace.waitMs(now) > 0) return false
    this.#pace.spend(bytesOf(payload), now)
    return true
  }
}
