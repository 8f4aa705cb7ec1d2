import { type Operation, operations } from '@plenum/protocol'

const paths = new Set(
  Object.values(operations as Record<string, Record<string, Operation>>)
    .flatMap((verbs) => Object.values(verbs))
    .filter(({ errorCode }) => errorCode)
    .flatMap(({ versions, path, aliases = [] }) =>
      versions.flatMap((version) => [path, ...aliases].map((one) => `/${version}${one}`)),
    ),
)

/**
 * Whether errors at this URL carry `code` (spec 16.1). By URL and not by route, because an error may happen before there is
 * a route: a wrong method, or a body that never arrives.
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
