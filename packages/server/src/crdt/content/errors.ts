/** Stored bytes that cannot be read, or that do not follow each other. */
export class DamagedLog extends Error {
  override name = 'DamagedLog'
}

/** The state to go back to cannot be read, while the document of today can. */
export class DamagedVersion extends Error {
  override name = 'DamagedVersion'
}

/** The message is written for the caller of the interface. */
export class UnfitContent extends Error {
  override name = 'UnfitContent'
}

/** Work on a stored document was given up because of the time it took. */
export class TooSlow extends Error {
  override name = 'TooSlow'
}

/** There was other work in the way; another time it may go well. */
export class Busy extends Error {
  override name = 'Busy'
}

/** The API key has as much work in progress as it may have. */
export class TooMuchWork extends Error {
  override name = 'TooMuchWork'
}
