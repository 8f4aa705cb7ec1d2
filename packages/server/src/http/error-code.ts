import { type Operation, operations } from '@plenum/protocol'

/** The paths of the operations that declare `errorCode`. */
const paths = new Set(
  Object.values(operations as Record<string, Record<string, Operation>>)
    .flatMap((verbs) => Object.values(verbs))
    .filter(({ errorCode }) => errorCode)
    .flatMap(({ versions, path, aliases = [] }) =>
      versions.flatMap((version) => [path, ...aliases].map((one) => `/${version}${one}`)),
    ),
)

/**
 * Whether errors at this URL carry `code` (spec 16.1). Decided by the URL, because some errors occur before a route is
 * known: the method is wrong, or the body never arrives.
 */
export function carriesErrorCode(url: string | undefined): boolean {
  const [path = ''] = (url ?? '').split('?', 1)
  if (paths.has(path)) return true
  if (!path.includes('%')) return false
  try {
    return paths.has(decodeURI(path))
  } catch {
    return false
  }
}
