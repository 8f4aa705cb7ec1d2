import type { NamedResources } from '../store/deletions.ts'

type Kind = Exclude<keyof NamedResources, 'isLive'>

/** Fields whose value is an id or a list of ids. */
const fields: Readonly<Record<string, Kind>> = {
  organizationId: 'organizationIds',
  organizationIds: 'organizationIds',
  documentId: 'documentIds',
  documentIds: 'documentIds',
  newDocumentId: 'documentIds',
  folderId: 'folderIds',
  folderIds: 'folderIds',
  parentFolderId: 'folderIds',
}
/** The kind of `id`, by the field `type` beside it. */
const types: Readonly<Record<string, Kind>> = {
  organization: 'organizationIds',
  document: 'documentIds',
  folder: 'folderIds',
}
/** No input names a resource at a deeper level. Deeper levels hold the contents of documents. */
const maxDepth = 4

/** Finds the organizations, documents and folders that a request names. All operations use the same field names for them. */
export function namedResourcesIn(input: unknown): NamedResources {
  const found = {
    organizationIds: new Set<string>(),
    documentIds: new Set<string>(),
    folderIds: new Set<string>(),
  }
  const add = (kind: Kind | undefined, value: unknown) => {
    for (const id of kind === undefined ? [] : [value].flat())
      if (typeof id === 'string') found[kind as Kind].add(id)
  }
  const walk = (value: unknown, depth: number): void => {
    if (typeof value !== 'object' || value === null || depth > maxDepth) return
    if (Array.isArray(value)) return value.forEach((one) => walk(one, depth + 1))
    const { type, id } = value as { type?: unknown; id?: unknown }
    if (typeof type === 'string' && Object.hasOwn(types, type)) add(types[type], id)
    for (const [field, inside] of Object.entries(value)) {
      if (Object.hasOwn(fields, field)) add(fields[field], inside)
      else walk(inside, depth + 1)
    }
  }
  walk(input, 0)
  const { organizationIds, documentIds, folderIds } = found
  return {
    organizationIds: [...organizationIds],
    documentIds: [...documentIds],
    folderIds: [...folderIds],
  }
}
