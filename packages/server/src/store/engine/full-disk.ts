import type { Clock } from '../../platform/clock.ts'
import { isDiskFull } from './failures.ts'

/** How long a refusal is reported. Small writes may still find space meanwhile, and monitors read this several times. */
const knownForMs = 60_000

/** Whether a write was refused in the last minute because the disk of the database is full. */
export class FullDisk {
  readonly #clock: Clock
  #refusedAt: number | undefined

  constructor(clock: Clock) {
    this.#clock = clock
  }

  onFailed(error: unknown): void {
    if (isDiskFull(error)) this.#refusedAt = this.#clock.elapsed()
  }

  get isFull(): boolean {
    return this.#refusedAt !== undefined && this.#clock.elapsed() - this.#refusedAt < knownForMs
  }
}
