import { hasType, isBlank, type Schema } from './explain.ts'

/**
 * The paths of the required fields that are missing, in the order of the declaration. An object that is missing is followed by
 * its fields.
 */
export function missingFields(
  { properties = {}, required = [] }: Schema,
  value: unknown,
  path = '',
): string[] {
  const sent = hasType('object', value) ? (value as Record<string, unknown>) : {}
  return Object.entries(properties).flatMap(([key, field]) => {
    const inner = Object.hasOwn(sent, key) ? sent[key] : undefined
    const isMissing = inner === undefined || isBlank(field, inner)
    if (isMissing && !required.includes(key)) return []
    const name = path ? `${path}.${key}` : key
    const isObject = field.type === 'object' && (isMissing || hasType('object', inner))
    return [...(isMissing ? [name] : []), ...(isObject ? missingFields(field, inner, name) : [])]
  })
}
