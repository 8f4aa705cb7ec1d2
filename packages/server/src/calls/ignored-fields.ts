import type { Version } from '@plenum/protocol'
import type { Schema } from './explain.ts'

type Drop = (value: unknown) => void

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Drops the fields that the version ignores from an input, before anything looks at them; undefined if it has none. */
export function createFieldFilter(input: Schema, version: Version): Drop | undefined {
  return version === 'v1' ? dropNewer(input) : undefined
}

function dropNewer(schema: Schema): Drop | undefined {
  if (schema.items) {
    const drop = dropNewer(schema.items)
    return drop && ((list) => Array.isArray(list) && list.forEach(drop))
  }
  const fields = Object.entries(schema.properties ?? {})
  const newer = fields.flatMap(([key, field]) => (field['x-since'] === 'v2' ? [key] : []))
  const inner = fields.flatMap(([key, field]): [string, Drop][] => {
    const drop = dropNewer(field)
    return drop ? [[key, drop]] : []
  })
  if (newer.length === 0 && inner.length === 0) return undefined
  return (value) => {
    if (!isObject(value)) return
    for (const key of newer) delete value[key]
    for (const [key, drop] of inner) if (Object.hasOwn(value, key)) drop(value[key])
  }
}
