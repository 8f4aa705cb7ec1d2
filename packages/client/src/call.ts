export interface CallOptions {
  /** Sent instead of a generated one, to make a call repeatable across restarts of the caller. */
  idempotencyKey?: string
  signal?: AbortSignal
  /** The version of the path; the newest unless given. */
  version?: 'v1' | 'v2'
}

/** What an operation answered. */
export interface Result<T> {
  message: string
  data: T
  /** For the next page; absent on the last one. */
  nextPageToken?: string
  /** The token of this page, where the operation repeats it. */
  pageToken?: string
}
