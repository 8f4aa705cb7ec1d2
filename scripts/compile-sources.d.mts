/** Compiles the sources unless that is done. Returns a function that returns the compiled file of a source. */
export function compileSources(): Promise<(file: string) => string | undefined>
