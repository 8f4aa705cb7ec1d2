import { isUtf8 } from 'node:buffer'
import { BytePace } from '../../../platform/turns/byte-pace.ts'
import type { EditorSession } from '../../editors/session.ts'
import { bytesOf, type StatelessRefusal } from '../../rooms/stateless-relay.ts'
import { refusal } from './frames.ts'

const maxBytes = 16 * 1024
/** Of one connection, after a burst of as much. */
const maxBytesPerSecond = 32 * 1024

const tooLarge: StatelessRefusal = {
  status: 'INVALID_ARGUMENT',
  message: 'A stateless message has at most 16 KiB.',
}
const tooFast: StatelessRefusal = {
  status: 'RESOURCE_EXHAUSTED',
  message: 'A connection sends at most 32 KiB of stateless messages a second. Further messages are dropped.',
}

/** The stateless messages that one connection sends: bounds their size and rate, and says why one is not passed on. */
export class StatelessSender {
  readonly #pace = new BytePace(maxBytesPerSecond)
  #wasTooFast = false

  /** False if the payload is no text: other providers would fail to read it. */
  send(name: string, payload: Uint8Array, session: EditorSession): boolean {
    const onRefused = ({ status, message }: StatelessRefusal) => session.send(refusal(name, status, message))
    if (payload.length > maxBytes) onRefused(tooLarge)
    else if (!isUtf8(payload)) return false
    else if (this.#isTooFast(payload)) {
      // Once is enough until a message is passed on again.
      if (!this.#wasTooFast) onRefused(tooFast)
      this.#wasTooFast = true
    } else {
      this.#wasTooFast = false
      // A copy, because the payload may be a small part of a large message.
      session.relay(payload.slice(), onRefused)
    }
    return true
  }

  #isTooFast(payload: Uint8Array): boolean {
    const now = performance.now()
    if (this.#pace.waitMs(now) > 0) return true
    this.#pace.spend(bytesOf(payload), now)
    return false
  }
}
