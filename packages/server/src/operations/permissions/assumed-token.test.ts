import { describe, expect, test } from 'vitest'
import {
  document,
  folder,
  folderScene,
  grant,
  nowSeconds,
  organization,
} from '../../../test/support/access/permission-scenes.ts'
import { stores, useServer } from '../../../test/support/harness.ts'
import { canWrite } from '../../access/permissions.ts'
import { evaluateAccess } from '../../access/sessions/session-access.ts'
import * as apiKeys from '../../store/api-keys.ts'

const organizationId = 'o1'
const deep = { organizationId, userId: 'ada', documentId: 'deep' }
const hourMs = 60 * 60 * 1000

describe.each(stores)('explain on %s', (store) => {
  const server = useServer(store)

  test('[7.9.4] an assumed token gives what a session with this token gets, whenever it was issued', async () => {
    const { client, apiKey } = await folderScene(server)
    await client.folders.updateAccess({ organizationId, folderIds: ['outer'], accessType: 'restricted' })
    await grant(client, 'ada', organization)
    const key = (await apiKeys.find(server.database.read, apiKey))?.key
    if (!key) throw new Error('The API key does not exist.')
    const tokens = [
      [],
      [{ ...document('deep'), accessRole: 'viewer' as const }],
      [{ ...document('deep'), expiresAt: nowSeconds() - 1 }, folder('outer')],
      [{ ...document('deep'), organizationId: 'elsewhere' }, document('flat')],
    ]
    const compare = async () => {
      const found = []
      for (const resources of tokens)
        for (const issuedAtMs of [undefined, Date.now() - hourMs, Date.now() + hourMs]) {
          const token = { resources, ...(issuedAtMs !== undefined && { issuedAtMs }) }
          const { assumed } = (await client.permissions.explain({ ...deep, assume: { token } })).data
          const session = {
            userId: 'ada',
            resources: resources.map((one) => ({
              accessRole: 'editor' as const,
              expiresAt: null,
              ...one,
              issuedAt: issuedAtMs ?? Date.now() + hourMs,
            })),
          }
          const [decision] = await evaluateAccess(
            server.database.read,
            key,
            organizationId,
            'deep',
            [session],
            nowSeconds(),
          )
          if (!decision) throw new Error('There is no decision.')
          expect(assumed).toMatchObject({ canRead: decision.allowed, canWrite: canWrite(decision) })
          found.push(assumed?.accessRole ?? 'none')
        }
      return found
    }
    const asIssued = ['none', 'none', 'none', 'viewer', 'viewer', 'viewer', 'editor', 'editor', 'editor']
    expect(await compare()).toEqual([...asIssued, 'none', 'none', 'none'])
    // A removal, and a later grant, override only tokens that are older.
    await client.permissions.remove({
      userId: 'ada',
      permissions: { resources: [document('deep'), folder('outer')] },
    })
    const afterRemoval = ['none', 'none', 'none', 'viewer', 'none', 'viewer', 'editor', 'none', 'editor']
    expect(await compare()).toEqual([...afterRemoval, 'none', 'none', 'none'])
    await grant(client, 'ada', { ...document('deep'), accessRole: 'editor' })
    const afterGrant = ['editor', 'editor', 'editor', 'viewer', 'editor', 'viewer']
    expect((await compare()).slice(0, 6)).toEqual(afterGrant)
  })
})
