import type { Attack } from '../attack.ts'

const organizationId = 'org_1'
const itemsPerCall = 500

/** Requests the largest lists, many times at once. */
export const largeLists: Attack = {
  name: 'large lists, many at once',
  async prepare({ url, attacker, size }) {
    const { client, headers } = attacker
    const [itemCount, callCount] = size === 'short' ? [2_000, 10] : [10_000, 30]
    await client.organizations.add({ organizations: [{ organizationId }] })
    for (let from = 0; from < itemCount; from += itemsPerCall) {
      const ids = Array.from({ length: itemsPerCall }, (_, i) => String(from + i))
      const name = 'x'.repeat(200)
      await client.users.add({ organizationId, users: ids.map((userId) => ({ userId, name })) })
      const documents = ids.map((documentId) => ({ documentId, documentName: name }))
      await client.documents.add({ organizationId, documents })
      // A binary tree of folders.
      const folders = ids.map((folderId) => ({
        folderId,
        ...(folderId !== '0' && { parentFolderId: String(Math.floor((Number(folderId) - 1) / 2)) }),
      }))
      await client.folders.add({ organizationId, folders })
    }
    const list = async (path: string, data: object) => {
      const body = JSON.stringify({ data: { organizationId, ...data } })
      const send = { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body }
      await (await fetch(`${url}${path}`, send)).arrayBuffer()
    }
    const lists: [path: string, data: object][] = [
      ['/v1/users/get', {}],
      ['/v2/users/get', { pageSize: 1_000 }],
      ['/v1/organizations/documents/get', {}],
      ['/v2/organizations/documents/get', { pageSize: 1_000 }],
      ['/v2/organizations/folders/get', {}],
      ['/v2/organizations/folders/get', { folderId: '0', maxDepth: 20 }],
    ]
    return async () => {
      for (const [path, data] of lists) {
        await Promise.all(Array.from({ length: callCount }, () => list(path, data)))
      }
    }
  },
}
