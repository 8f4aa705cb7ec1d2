export const faultCodes = [
  'malformed',
  'too_large',
  'gap',
  'future_delete',
  'foreign_client',
  'taken_client',
  'forbidden',
  'read_only',
  'full',
  'too_many_ids',
] as const

/**
 * Why an update is refused:
 * - `malformed`, `too_large`, `forbidden`: the update is invalid, exceeds a bound, or uses a name that is not allowed.
 * - `gap`, `future_delete`: the update depends on another one that has not arrived. It may be accepted later.
 * - `foreign_client`: the update has structs of a Yjs client id that belongs to another user.
 * - `taken_client`: another user has written under the Yjs client id first, on another server.
 * - `read_only`: the user may not write.
 * - `full`, `too_many_ids`: the editor has reached its limit of bytes or of Yjs client ids.
 *
 * `isRecoverable` in `realtime/rooms/refusals.ts` says after which faults the sender's connection stays open.
 */
export interface Fault {
  code: (typeof faultCodes)[number]
  message: string
  /** The position of the byte at which the fault was noticed. */
  at?: number
  /** For a `gap` or a `future_delete`: what must arrive before the update can be accepted. */
  missing?: Missing
}

/** The structs of this Yjs client id must arrive up to this clock. */
export interface Missing {
  client: number
  clock: number
}

/** Thrown while an update is read or validated. */
export class Refusal extends Error {
  readonly fault: Fault

  constructor(fault: Fault) {
    super(fault.message)
    this.fault = fault
  }
}
