/** Compiles the sources unless that is done. */
export function compileSources(): Promise<{
  /** The URL of the compiled `server.ts`. The bundled program of worker threads is beside it. */
  server: string
  /** Returns the compiled file of a source, or undefined for any other file. */
  fileOf(file: string): string | undefined
}>
