import type { Attack } from '../attack.ts'

const documentsPerCall = 500

/** Deletes an organization and a folder with many documents each. */
export const largeDeletion: Attack = {
  name: 'deletion of an organization and of a folder with many documents',
  async prepare({ attacker, size }) {
    const { client } = attacker
    const documentCount = size === 'short' ? 20_000 : 100_000
    await client.organizations.add({ organizations: [{ organizationId: 'other' }] })
    await client.folders.add({ organizationId: 'other', folders: [{ folderId: 'top' }] })
    for (let from = 0; from < documentCount; from += documentsPerCall) {
      const documents = Array.from({ length: documentsPerCall }, (_, index) => ({
        documentId: `d${from + index}`,
      }))
      await client.documents.add({ organizationId: 'many', createOrganization: true, documents })
      await client.documents.add({ organizationId: 'other', folderId: 'top', documents })
    }
    return async () => {
      await client.organizations.delete({ organizationIds: ['many'] })
      await client.folders.delete({ organizationId: 'other', folderId: 'top' })
    }
  },
}
