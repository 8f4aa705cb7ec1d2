/** Bundles each entry, with its name, into the folder. Modules for which `external` returns true are not bundled. */
export function bundle(
  entries: Record<string, string>,
  folder: string,
  platform: 'node' | 'neutral',
  external?: (id: string) => boolean,
): Promise<void>
export function bundleClient(folder: string): Promise<void>
