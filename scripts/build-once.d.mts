/** Hashes files, and the files below folders that `isSource` accepts. Paths are relative to the repository. */
export function hashOfSources(
  files: readonly string[],
  folders: readonly string[],
  isSource: (file: string) => boolean,
): string
/** Returns a folder that `build` has filled from the sources with this hash. Processes and later runs share the folder. */
export function buildOnce(
  name: string,
  hash: string,
  build: (folder: string) => Promise<void>,
): Promise<string>
