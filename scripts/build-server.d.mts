/** Hashes everything that the server and the programs beside it are built from. */
export function hashOfServer(programs?: readonly string[]): string
/** Writes the server into the folder, as `main.js`. The programs are bundled beside it, under their own names. */
export function buildServer(dist: string, programs?: readonly string[]): Promise<void>
