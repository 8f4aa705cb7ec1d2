/** The bytes of a stored document cannot be read, or updates are missing. */
export class DamagedLog extends Error {
  override name = 'DamagedLog'
}

/** The version to restore cannot be read; the current document can. */
export class DamagedVersion extends Error {
  override name = 'DamagedVersion'
}

/** The content cannot be stored. The message is for the caller of the interface. */
export class UnfitContent extends Error {
  override name = 'UnfitContent'
}

/** Work on a stored document exceeded its time limit. */
export class TooSlow extends Error {
  override name = 'TooSlow'
}

/** The threads are busy with other work. A retry may succeed. */
export class Busy extends Error {
  override name = 'Busy'
}

/** The API key has reached its limit of work in progress. */
export class TooMuchWork extends Error {
  override name = 'TooMuchWork'
}
