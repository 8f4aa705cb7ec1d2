/** A path is cut where it gets longer. */
const maxPathLength = 200

/** Names the first string or key that the databases cannot store, and says why; the same rules as for REST. */
export function unstorableText(value: unknown, path: string): string | undefined {
  if (typeof value === 'string') {
    const fault = faultOf(value)
    return fault && `${path} ${fault}`
  }
  if (typeof value !== 'object' || value === null) return undefined
  for (const [key, inner] of Object.entries(value)) {
    const fault = faultOf(key)
    if (fault) return `A key of ${path} ${fault}`
    const innerFault = unstorableText(inner, pathOf(path, key, Array.isArray(value)))
    if (innerFault) return innerFault
  }
  return undefined
}

function faultOf(text: string): string | undefined {
  if (text.includes('\0')) return 'must not contain the NUL character.'
  return /\p{Surrogate}/u.test(text) ? 'must not contain unpaired surrogates.' : undefined
}

function pathOf(path: string, key: string, isIndex: boolean): string {
  const longer = isIndex ? `${path}[${key}]` : `${path}.${key}`
  return longer.length <= maxPathLength ? longer : path
}
