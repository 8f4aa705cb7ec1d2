import * as encoding from 'lib0/encoding'
import type { StateVector } from './validate-update.ts'

const maxBlockClients = 1_024

/**
 * Encodes the next clock of each Yjs client. Encoding 100,000 clients takes 30 ms, so they are encoded in blocks: when a
 * client advances, only its block is encoded again.
 */
export class StateVectorEncoder {
  /** The Yjs client ids, in the order in which they became known. */
  readonly #clients: number[] = []
  readonly #blocks: (Uint8Array | undefined)[] = []
  #whole: Uint8Array | undefined

  /** Adds a client and returns the number of its block. */
  add(client: number): number {
    const block = Math.floor(this.#clients.length / maxBlockClients)
    this.#clients.push(client)
    this.onClockChanged(block)
    return block
  }

  /** Call it when a clock in the block has changed. */
  onClockChanged(block: number): void {
    this.#blocks[block] = undefined
    this.#whole = undefined
  }

  /** Encodes the changed blocks ahead of the next `encode`. */
  prepare(clocks: StateVector): void {
    for (let block = 0; block < this.#blocks.length; block++) {
      this.#blocks[block] ??= this.#encodeBlock(block, clocks)
    }
  }

  /** Returns the state vector as Yjs encodes it. With more than 1,024 clients, Yjs would write them in another order. */
  encode(clocks: StateVector): Uint8Array {
    if (this.#whole) return this.#whole
    this.prepare(clocks)
    this.#whole = encoding.encode((encoder) => {
      encoding.writeVarUint(encoder, this.#clients.length)
      for (const block of this.#blocks) encoding.writeUint8Array(encoder, block as Uint8Array)
    })
    return this.#whole
  }

  #encodeBlock(block: number, clocks: StateVector): Uint8Array {
    const from = block * maxBlockClients
    // Yjs writes the highest client first.
    const clients = this.#clients.slice(from, from + maxBlockClients).sort((a, b) => b - a)
    return encoding.encode((encoder) => {
      for (const client of clients) {
        encoding.writeVarUint(encoder, client)
        encoding.writeVarUint(encoder, clocks.get(client) ?? 0)
      }
    })
  }
}
