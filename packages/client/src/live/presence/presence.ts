import { ApiError } from '@plenum/protocol/errors'
import { type ClientMessage, limits, type OnlineStatus, type PresentUser } from '@plenum/protocol/realtime'
import { byteLength, checkStatus, copyOf } from '../checks.ts'
import { Listeners, type Unsubscribe } from '../../platform/listeners.ts'

type AnyData = Record<string, unknown>

/** Fields that are left out keep their value; `data: null` removes it. */
export interface OwnPresence<Data extends object = AnyData> {
  status?: OnlineStatus
  data?: Data | null
}

/**
 * The users in a document. `Data` is the type of the data that the clients of your application publish. It is not
 * checked: at run time, `data` of other users is what their clients sent.
 */
export interface Presence<Data extends object = AnyData> {
  /** All users who are present, the own one included. Every change gives a new array. */
  readonly users: readonly PresentUser<Data>[]
  /** The entry of the own user, however many tabs have the document open. Undefined until the server sent it. */
  readonly self: PresentUser<Data> | undefined
  /** The entries of all other users. The same array until one of these entries changes. */
  readonly others: readonly PresentUser<Data>[]
  /** Calls the listener on every change, but not immediately. */
  subscribe(listener: (users: readonly PresentUser<Data>[]) => void): Unsubscribe
  /**
   * A status that is set holds until the user is active again. Throws an `ApiError` (`INVALID_ARGUMENT`) for another
   * status than `online`, `away` and `offline`, and for data above the limits, such as 16 KiB.
   */
  set(own: OwnPresence<Data>): void
}

/** What the list needs of its connection. */
export interface PresenceHost {
  /** Unknown until the first connection. */
  readonly userId: string | undefined
  readonly idleStatus: OnlineStatus
}

type SetPresence = Omit<ClientMessage & { type: 'setPresence' }, 'ref'>

/** Cursors move with every frame of the screen; twenty times a second is enough to follow them. */
const pauseMs = 50

export class PresenceList implements Presence {
  users: readonly PresentUser[] = []
  self: PresentUser | undefined
  others: readonly PresentUser[] = []
  readonly #listeners = new Listeners<readonly PresentUser[]>()
  readonly #send: (message: SetPresence) => void
  readonly #host: PresenceHost
  #status: OnlineStatus | undefined
  #data: Record<string, unknown> | null | undefined
  #timer: ReturnType<typeof setTimeout> | undefined
  #isStale = false

  /** `send` may drop what it is given: after each opening, all is sent again. */
  constructor(send: (message: SetPresence) => void, host: PresenceHost) {
    this.#send = send
    this.#host = host
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
    if (users) this.#replace(this.#keepUnchanged(users))
    const isDefault = this.#data === undefined && (this.#status ?? this.#host.idleStatus) === 'online'
    if (!isDefault) this.publish()
  }

  changed(users: readonly PresentUser[], left: readonly string[]): void {
    const all = new Map(this.users.map((user) => [user.userId, user]))
    for (const user of this.#keepUnchanged(users)) all.set(user.userId, user)
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
      status: this.#status ?? this.#host.idleStatus,
      ...(this.#data !== undefined && { data: this.#data }),
    })
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      if (this.#isStale) this.#publishNow()
    }, pauseMs)
  }

  /** The server may send an entry again, such as all of them after a reconnect. Equal entries keep their object. */
  #keepUnchanged(users: readonly PresentUser[]): PresentUser[] {
    const known = new Map(this.users.map((user) => [user.userId, user]))
    return users.map((user) => {
      const before = known.get(user.userId)
      return before && isEqual(before, user) ? before : user
    })
  }

  #replace(users: readonly PresentUser[]): void {
    const { userId } = this.#host
    const others = users.filter((user) => user.userId !== userId)
    this.users = users
    this.self = users.find((user) => user.userId === userId)
    if (!hasSameItems(others, this.others)) this.others = others
    this.#listeners.emit(users)
  }
}

/** Entries come from JSON that one server wrote, so equal ones have their keys in the same order. */
const isEqual = (one: PresentUser, other: PresentUser) =>
  one.timestamp === other.timestamp && JSON.stringify(one) === JSON.stringify(other)

const hasSameItems = (one: readonly unknown[], other: readonly unknown[]) =>
  one.length === other.length && one.every((item, index) => item === other[index])
