/** Limits that the REST operations and `/realtime` share. This file imports nothing, because the client bundles it. */

/** Characters of an id (spec 0.6). */
export const maxIdLength = 256
/** Characters of a name that must not be blank. */
export const maxShortNameLength = 200
/** Characters of a page token. */
export const maxPageTokenLength = 4096
