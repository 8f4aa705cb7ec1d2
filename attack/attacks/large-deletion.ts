import type { Attack } from '../attack.ts'

/** Documents of one call. */
const batch = 500

/** Deletes an organization with very many documents, and a folder with as many. */
export const largeDeletion: Attack = {
  name: 'deletion of an organization and of a folder with many documents',
  async prepare({ attacker, size }) {
    const { client } = attacker
    const documents = size === 'short' ? 20_000 : 100_000
    await client.organizations.add({ organizations: [{ organizationId: 'other' }] })
    await client.folders.add({ organizationId: 'other', folders: [{ folderId: 'top' }] })
    for (let from = 0; from < documents; from += batch) {
      const some = Array.from({ length: batch }, (_, index) => ({ documentId: `d${from + index}` }))
      await client.documents.add({ organizationId: 'many', createOrganization: true, documents: some })
      await client.documents.add({ organizationId: 'other', folderId: 'top', documents: some })
    }
    return async () => {
      await client.organizations.delete({ organizationIds: ['many'] })
      await client.folders.delete({ organizationId: 'other', folderId: 'top' })
    }
  },
}
