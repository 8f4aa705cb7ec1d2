import { isUtf8 } from 'node:buffer'
import { sendNewestSeq } from '../../peers/hints.ts'
import type { Address, Peers } from '../../peers/peers.ts'
import type { SharedList, SharedListSource } from '../../peers/shared-list.ts'
import type { SharedLists } from '../../peers/shared-lists.ts'
import type { PacedBroadcast } from '../../platform/turns/paced-broadcast.ts'
import { addAwarenessItem, awarenessItemOf, sessionOf } from './awareness/awareness-item.ts'
import { AwarenessStates } from './awareness/awareness.ts'
import { createAwarenessBroadcast } from './awareness-broadcast.ts'
import type { ReservedClientIds } from './awareness/reserved-client-ids.ts'
import type { Member } from './member.ts'
import { StatelessRelay } from './stateless-relay.ts'

export interface EditorRelayDeps {
  /** Where other servers that have the editor open listen. */
  address: Address
  members: ReadonlySet<Member>
  /** Returns the user who has written with a Yjs client id, or undefined. */
  ownerOf: (clientId: number) => string | undefined
  /** The number of the newest row of the editor's log that this server knows. */
  newestSeq: () => number
  sharedLists: SharedLists
  reservedClientIds: ReservedClientIds
  run: (steps: Iterator<unknown>) => void
}

/** The first byte of a stateless message between servers. Messages of another format are ignored. */
const statelessFormat = 1
const maxStatelessBytes = 64 * 1024

/** Passes on what clients of an editor send each other and nobody stores, also between servers: awareness and stateless messages. */
export class EditorRelay {
  readonly awareness: AwarenessStates
  readonly stateless: StatelessRelay
  readonly #broadcast: PacedBroadcast<Member>
  readonly #peers: Peers
  /** The awareness states of all servers. Undefined if there can be no other servers. */
  readonly #shared: SharedList | undefined
  readonly #address: Address
  #stopListening: (() => void) | undefined

  constructor(deps: EditorRelayDeps) {
    const { address, members, ownerOf, newestSeq, sharedLists, reservedClientIds, run } = deps
    this.awareness = new AwarenessStates(ownerOf, reservedClientIds.of(address))
    this.#peers = sharedLists.peers
    this.#address = address
    this.#shared = sharedLists.create('awareness', address, this.#createSource(newestSeq, run))
    this.#broadcast = createAwarenessBroadcast({
      states: this.awareness,
      members,
      run,
      onTaken: (clientIds) => {
        for (const clientId of clientIds) this.#shared?.update(String(clientId))
      },
    })
    this.stateless = new StatelessRelay(members, run, (payload) => this.#sendStateless(payload))
  }

  /** From now on, the relay shares what it has with other servers that have the editor open. */
  open(): void {
    if (this.#stopListening) return
    this.#shared?.open()
    this.#stopListening = this.#peers.listen('stateless', this.#address, (body) =>
      this.#receiveStateless(body),
    )
  }

  /** Call it when a member has left. */
  onLeft({ sessionId }: Member): void {
    this.awareness.leave(sessionId)
    this.broadcastAwareness()
  }

  /** Call it when the room is dropped. Until then it gets all rows, so that the next member finds nothing old. */
  close(): void {
    this.#shared?.close()
    this.#stopListening?.()
    this.#stopListening = undefined
  }

  /** Call it when a member may write from now on, or may not any more: it decides who may use a Yjs client id. */
  onRoleChanged({ sessionId }: Member): void {
    const clientId = this.awareness.clientIdOf(sessionId)
    if (clientId !== undefined) this.#shared?.update(String(clientId))
  }

  /** Call it when awareness states may have changed. */
  broadcastAwareness(): void {
    if (this.awareness.changeCount > 0) this.#broadcast.start()
  }

  #createSource(newestSeq: () => number, run: EditorRelayDeps['run']): SharedListSource {
    const { awareness } = this
    return {
      *ownKeys() {
        for (const clientId of awareness.clientIds) if (awareness.ownState(clientId)) yield String(clientId)
      },
      ownItem(key) {
        const state = awareness.ownState(Number(key))
        return state && awarenessItemOf(Number(key), state)
      },
      onItem: (server, key, item) => {
        addAwarenessItem(awareness, server, Number(key), item)
        this.broadcastAwareness()
      },
      onRemoved: (server, key) => {
        // A client that has connected here meanwhile keeps its state.
        awareness.leave(sessionOf(server, Number(key)).sessionId)
        this.broadcastAwareness()
      },
      onServer: sendNewestSeq(this.#peers, 'editor', this.#address, newestSeq),
      run,
    }
  }

  #sendStateless(payload: Uint8Array): void {
    if (!this.#shared?.isShared) return
    this.#peers.send('stateless', this.#address, Buffer.concat([Uint8Array.of(statelessFormat), payload]))
  }

  #receiveStateless(body: Uint8Array): void {
    const payload = body.slice(1)
    const isValid = body[0] === statelessFormat && payload.length <= maxStatelessBytes && isUtf8(payload)
    if (isValid) this.stateless.receiveFromServer(payload)
  }
}
