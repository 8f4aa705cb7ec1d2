import type { Operation } from '@plenum/protocol'

/** The properties of an operation that its schemas do not show, as sentences for callers. */
export function notesOf({ requires, size, errorCode }: Operation): string[] {
  const notes: string[] = []
  if (requires) notes.push(`Requires the option \`${requires}\` of the API key, which is on by default.`)
  if (size === 'large') notes.push('The body can have up to 10 MiB.')
  if (errorCode) notes.push('Its errors have a field `code` with the value of `status`.')
  return notes
}

/** The paths of an operation, newest version first, each followed by its aliases. Titles are unique. */
export function pathsOf({ title, versions, path, aliases = [] }: Operation) {
  const newest = versions.at(-1)
  return versions.toReversed().flatMap((version) => [
    {
      version,
      url: `/${version}${path}`,
      title: version === newest ? title : `${title} (${version})`,
      suffix: version === newest ? '' : `.${version}`,
      isAlias: false,
    },
    ...aliases.map((alias, index) => ({
      version,
      url: `/${version}${alias}`,
      title: `${title} (${version}, alias)`,
      suffix: `.${version}.alias${index === 0 ? '' : index + 1}`,
      isAlias: true,
    })),
  ])
}
