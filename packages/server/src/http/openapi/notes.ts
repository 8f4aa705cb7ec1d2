import type { Operation } from '@plenum/protocol'

/** What the switches of a declaration mean for callers and its schemas do not say, a sentence each. */
export function notesOf({ requires, size, errorCode }: Operation): string[] {
  const notes: string[] = []
  if (requires)
    notes.push(`Needs the option \`${requires}\` of the API key, which is on unless switched off.`)
  if (size === 'large') notes.push('The body may have up to 10 MiB.')
  if (errorCode) notes.push('Its error envelopes carry `code` beside `status`, with the same word.')
  return notes
}

/** Each path of an operation, the newest version first; aliases follow the path they stand for. Titles are unique. */
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
