import { ApiError } from '@plenum/protocol/errors'
import { type ClientMessage, limits, type OnlineStatus, type PresentUser } from '@plenum/protocol/realtime'
import { byteLength, checkStatus, copyOf } from './checks.ts'
import { Listeners, type Unsubscribe } from './listeners.ts'

/** Fields that are left out keep their value; `data: null` removes it. */
export interface OwnPresence {
  status?: OnlineStatus
  data?: Record<string, unknown> | null
}

export interface Presence {
  /** Everybody who is present, oneself too; another array after each change. */
  readonly users: readonly PresentUser[]
  /** Called at each change, not at once. */
  subscribe(listener: (users: readonly PresentUser[]) => void): Unsubscribe
  /**
   * A status that is set holds until the user is active again. Throws an `ApiError` (`INVALID_ARGUMENT`) for another
   * status than `online`, `away` and `offline`, and for data above the limits, such as 16 KiB.
   */
  set(own: OwnPresence): void
}

type SetPresence = Omit<ClientMessage & { type: 'setPresence' }, 'ref'>

/** Cursors move with every frame of the screen; twenty times a second is enough to follow them. */
const pauseMs = 50

export class PresenceList implements Presence {
  users: readonly PresentUser[] = []
  readonly #listeners = new Listeners<readonly PresentUser[]>()
  readonly #send: (message: SetPresence) => void
  readonly #idleStatus: () => OnlineStatus
  #status: OnlineStatus | undefined
  #data: Record<string, unknown> | null | undefined
  #timer: ReturnType<typeof setTimeout> | undefined
  #isStale = false

  /** `send` may drop what it is given: after each opening, all is sent again. */
  constructor(send: (message: SetPresence) => void, idleStatus: () => OnlineStatus) {
    this.#send = send
    this.#idleStatus = idleStatus
  }

  subscribe(listener: (users: readonly PresentUser[]) => void): Unsubscribe {
    return this.#listeners.add(listener)
  }

  set({ status, data }: OwnPresence): void {
    checkStatus(status)
    const copy = data && copyOf(data)
    if (copy && byteLength(copy) > limits.presenceBytes) {
      throw new ApiError('INVALID_ARGUMENT', 'The data of a presence must not be larger than 16 KiB.')
    }
    if (status !== undefined) this.#status = status
    if (copy !== undefined) this.#data = copy
    this.publish()
  }

  /** The user did something. */
  active(): void {
    if (this.#status === undefined) return
    this.#status = undefined
    this.publish()
  }

  /** Now, or soon when it was done just now. */
  publish(): void {
    this.#isStale = true
    if (this.#timer === undefined) this.#publishNow()
  }

  opened(users: readonly PresentUser[] | undefined): void {
    if (users) this.#replace(users)
    const isDefault = this.#data === undefined && (this.#status ?? this.#idleStatus()) === 'online'
    if (!isDefault) this.publish()
  }

  changed(users: readonly PresentUser[], left: readonly string[]): void {
    const all = new Map(this.users.map((user) => [user.userId, user]))
    for (const user of users) all.set(user.userId, user)
    for (const userId of left) all.delete(userId)
    this.#replace([...all.values()])
  }

  ended(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    if (this.users.length > 0) this.#replace([])
  }

  closed(): void {
    this.ended()
    this.#listeners.clear()
  }

  #publishNow(): void {
    this.#isStale = false
    this.#send({
      type: 'setPresence',
      status: this.#status ?? this.#idleStatus(),
      ...(this.#data !== undefined && { data: this.#data }),
    })
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      if (this.#isStale) this.#publishNow()
    }, pauseMs)
  }

  #replace(users: readonly PresentUser[]): void {
    this.users = users
    this.#listeners.emit(users)
  }
}
