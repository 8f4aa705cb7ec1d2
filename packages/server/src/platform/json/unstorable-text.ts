import { textFault } from './safe-json.ts'

/** A path in a message is not extended beyond this length. */
const maxPathLength = 200

/**
 * Returns a message about the first string or key that the databases cannot store, or undefined if there is none. REST has
 * the same rules.
 */
export function unstorableText(value: unknown, path: string): string | undefined {
  if (typeof value === 'string') {
    const fault = textFault(value)
    return fault && `${path} ${fault}`
  }
  if (typeof value !== 'object' || value === null) return undefined
  for (const [key, inner] of Object.entries(value)) {
    const fault = textFault(key)
    if (fault) return `A key of ${path} ${fault}`
    const innerFault = unstorableText(inner, pathOf(path, key, Array.isArray(value)))
    if (innerFault) return innerFault
  }
  return undefined
}

function pathOf(path: string, key: string, isIndex: boolean): string {
  const longer = isIndex ? `${path}[${key}]` : `${path}.${key}`
  return longer.length <= maxPathLength ? longer : path
}
