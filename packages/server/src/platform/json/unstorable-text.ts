import { textFault } from './safe-json.ts'

/** Longer paths are cut. */
const maxPathLength = 200

/** Names the first string or key that the databases cannot store, and says why. REST has the same rules. */
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
