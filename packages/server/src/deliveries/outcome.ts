/** What one attempt to deliver led to. */
export type Outcome = (
  | { kind: 'delivered'; code?: number; answer?: string }
  /** It is tried again, as long as the schedule has attempts. */
  | { kind: 'failed'; code?: number; answer?: string; error: string }
  /** Trying again is useless: the recipient was refused, or the receiver is gone. */
  | { kind: 'refused'; code?: number; answer?: string; error: string }
) & {
  /** Where the attempt went, if the delivery had another target before. */
  target?: string
}

/** There was no attempt, because the receiver is gone or does not want the message any more. */
export interface Cancelled {
  kind: 'cancelled'
  /** A sentence for the operator. */
  error: string
}

export const cancelled = (error: string): Cancelled => ({ kind: 'cancelled', error })
