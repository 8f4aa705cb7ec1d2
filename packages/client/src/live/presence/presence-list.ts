import { ApiError } from '@plenum/protocol/errors'
import { type ClientMessage, limits, type OnlineStatus, type PresentUser } from '@plenum/protocol/realtime'
import { Listeners, type Unsubscribe } from '../../platform/listeners.ts'
import { byteLength, checkStatus, copyData } from '../checks.ts'
import type { OwnPresence, Presence } from './presence.ts'

/** What the list needs from its connection. */
export interface PresenceDeps {
  /** Undefined until the first connection. */
  readonly userId: string | undefined
  /** The status that follows from the activity of the user. */
  readonly activityStatus: OnlineStatus
}

type SetPresence = Omit<ClientMessage & { type: 'setPresence' }, 'ref'>

/** A cursor moves with every frame of the screen. Twenty updates a second are enough to follow it. */
const minPublishIntervalMs = 50

export class PresenceList implements Presence {
  users: readonly PresentUser[] = []
  self: PresentUser | undefined
  others: readonly PresentUser[] = []
  readonly #listeners = new Listeners<readonly PresentUser[]>()
  readonly #send: (message: SetPresence) => void
  readonly #deps: PresenceDeps
  /** The status that the application set, until the user is active again. */
  #status: OnlineStatus | undefined
  #data: Record<string, unknown> | null | undefined
  /** Runs until the next message may be sent. */
  #timer: ReturnType<typeof setTimeout> | undefined
  #hasUnpublished = false

  /** `send` may discard the message: everything is sent again when the document opens. */
  constructor(send: (message: SetPresence) => void, deps: PresenceDeps) {
    this.#send = send
    this.#deps = deps
  }

  subscribe(listener: (users: readonly PresentUser[]) => void): Unsubscribe {
    return this.#listeners.add(listener)
  }

  set({ status, data }: OwnPresence): void {
    checkStatus(status)
    const copy = data && copyData(data)
    if (copy && byteLength(copy) > limits.presenceBytes) {
      throw new ApiError('INVALID_ARGUMENT', 'The data of a presence must not be larger than 16 KiB.')
    }
    if (status !== undefined) this.#status = status
    if (copy !== undefined) this.#data = copy
    this.publish()
  }

  /** The user is active, which ends a status that the application set. */
  onActivity(): void {
    if (this.#status === undefined) return
    this.#status = undefined
    this.publish()
  }

  /** Sends the own presence now, or at the end of the interval if it was sent just before. */
  publish(): void {
    this.#hasUnpublished = true
    if (this.#timer === undefined) this.#publishNow()
  }

  onOpened(users: readonly PresentUser[] | undefined): void {
    if (users) this.#replace(this.#reuseEqual(users))
    const isDefault = this.#data === undefined && (this.#status ?? this.#deps.activityStatus) === 'online'
    if (!isDefault) this.publish()
  }

  applyChanges(users: readonly PresentUser[], left: readonly string[]): void {
    const byId = new Map(this.users.map((user) => [user.userId, user]))
    for (const user of this.#reuseEqual(users)) byId.set(user.userId, user)
    for (const userId of left) byId.delete(userId)
    this.#replace([...byId.values()])
  }

  /** Empties the list, because the document ended. */
  clear(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    if (this.users.length > 0) this.#replace([])
  }

  close(): void {
    this.clear()
    this.#listeners.clear()
  }

  #publishNow(): void {
    this.#hasUnpublished = false
    this.#send({
      type: 'setPresence',
      status: this.#status ?? this.#deps.activityStatus,
      ...(this.#data !== undefined && { data: this.#data }),
    })
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      if (this.#hasUnpublished) this.#publishNow()
    }, minPublishIntervalMs)
  }

  /**
   * Replaces each entry that did not change by the object that is known already. The server may repeat entries, for example
   * all of them after a reconnect.
   */
  #reuseEqual(users: readonly PresentUser[]): PresentUser[] {
    const byId = new Map(this.users.map((user) => [user.userId, user]))
    return users.map((user) => {
      const known = byId.get(user.userId)
      return known && isEqual(known, user) ? known : user
    })
  }

  #replace(users: readonly PresentUser[]): void {
    const { userId } = this.#deps
    const others = users.filter((user) => user.userId !== userId)
    this.users = users
    this.self = users.find((user) => user.userId === userId)
    if (!hasSameItems(others, this.others)) this.others = others
    this.#listeners.emit(users)
  }
}

/** Comparing JSON is enough: servers write all entries alike, so equal entries have their keys in the same order. */
const isEqual = (one: PresentUser, other: PresentUser) =>
  one.timestamp === other.timestamp && JSON.stringify(one) === JSON.stringify(other)

const hasSameItems = (one: readonly unknown[], other: readonly unknown[]) =>
  one.length === other.length && one.every((item, index) => item === other[index])
