/** Options of one call of an operation. */
export interface CallOptions {
  /**
   * The `Idempotency-Key` of a write. Default: a random one. With your own key, a write that is repeated after a restart
   * of your process still runs once.
   */
  idempotencyKey?: string
  /** Aborts the call. It then rejects with the reason of the signal. */
  signal?: AbortSignal
  /** The version in the path. Default: the newest version of the operation. */
  version?: 'v1' | 'v2'
}

/** The successful answer of an operation. */
export interface Result<T> {
  /** A sentence for people, such as `Organization(s) added successfully.` */
  message: string
  data: T
  /** The `pageToken` of the next page. Absent on the last page. */
  nextPageToken?: string
  /** The same token as `nextPageToken`. Only some operations return it. */
  pageToken?: string
}
