import { setImmediate } from 'node:timers/promises'
import type { Clock } from '../platform/clock.ts'
import type { Log } from '../platform/log/log.ts'
import { isLoopLate } from '../platform/turns/loop-time.ts'
import type { Address, Peers, Topic } from './peers.ts'
import { SharedList, type SharedListSource } from './shared-list.ts'

const sweepMs = 5_000
/** The digest of a list is sent in every third sweep. */
const sweepsPerDigest = 3

/** Creates the shared lists of this server, and does for all of them what depends on time and on other servers. */
export class SharedLists {
  readonly #deps: { peers: Peers; clock: Clock; log: Pick<Log, 'debug'> }
  /** The open lists. The number says in which sweep a list sends its digest. */
  readonly #open = new Map<SharedList, number>()
  readonly #stops: readonly (() => void)[]
  #sweeps = 0
  #opened = 0

  constructor(deps: { peers: Peers; clock: Clock; log: Pick<Log, 'debug'> }) {
    this.#deps = deps
    const { peers, clock } = deps
    this.#stops = peers.isAlone
      ? []
      : [
          clock.setInterval(() => void this.#sweep(), sweepMs),
          peers.onMessagesMissed(() => void this.#forEach((list) => list.ask())),
          peers.onServerGone((server) => void this.#forEach((list) => list.dropServer(server))),
        ]
  }

  /** The servers that share the lists. */
  get peers(): Peers {
    return this.#deps.peers
  }

  /** Creates the list at the address. Undefined if there can be no other servers. */
  create(topic: Topic, address: Address, source: SharedListSource): SharedList | undefined {
    if (this.#deps.peers.isAlone) return undefined
    return new SharedList({
      ...this.#deps,
      topic,
      address,
      source,
      onOpened: (list) => this.#open.set(list, this.#opened++),
      onClosed: (list) => this.#open.delete(list),
    })
  }

  async #sweep(): Promise<void> {
    const sweep = this.#sweeps++
    await this.#forEach((list, number) => list.sweep((sweep + number) % sweepsPerDigest === 0))
  }

  /** There may be hundreds of thousands of lists. */
  async #forEach(visit: (list: SharedList, number: number) => void): Promise<void> {
    for (const [list, number] of this.#open) {
      if (isLoopLate()) await setImmediate()
      visit(list, number)
    }
  }

  close(): void {
    for (const stop of this.#stops) stop()
  }
}
