import { describe, expect, test } from 'vitest'
import { eventually } from '../../support/clients/convergence.ts'
import { plenumConnection } from '../../support/clients/plenum-client.ts'
import * as given from '../../support/given.ts'
import { stores, useServer } from '../../support/harness.ts'
import { tokenFor } from '../../support/access/user-tokens.ts'

const ref = { organizationId: 'org_1', documentId: 'doc_1' }

describe.each(stores)('access that comes back, on %s', (store) => {
  const server = useServer(store)

  test('[K3.3] [K21] a document whose access is given back opens again by itself, with what was typed and written meanwhile', async () => {
    const tenant = await given.tenant(server)
    await given.restrictedDocument(tenant, ref.documentId)
    const { client } = tenant
    const resource = { type: 'document' as const, id: ref.documentId, organizationId: ref.organizationId }
    const grant = () =>
      client.permissions.add({ user: { userId: 'ada' }, permissions: { resources: [resource] } })
    await grant()
    const connection = plenumConnection(client, await tokenFor(tenant, 'ada'))
    const document = connection.document(ref.organizationId, ref.documentId)
    const editor = document.editor('note', { type: 'text' })
    const { threads } = document
    threads.subscribe(() => {})
    let errors = 0
    document.on('error', () => errors++)
    await editor.whenSynced
    await eventually(() => threads.isLoading).toBe(false)

    await client.permissions.remove({ userId: 'ada', permissions: { resources: [resource] } })
    await eventually(() => document.status).toBe('denied')
    const reason = { status: 'PERMISSION_DENIED', message: expect.stringContaining('org_1/doc_1') }
    for (const it of [document, editor]) expect(it).toMatchObject({ status: 'denied', reason })
    expect(threads.error).toMatchObject(reason)
    editor.doc.getText('content').insert(0, 'typed while denied')
    await client.commentAnnotations.add({
      ...ref,
      commentAnnotations: [
        { annotationId: 'a1', commentData: [{ commentText: 'x', from: { userId: 'bob' } }] },
      ],
    })

    await grant()
    await expect.poll(() => document.status, { timeout: 60_000 }).toBe('connected')
    await editor.whenSaved()
    expect((await client.crdt.get({ ...ref, editorId: 'note' })).data[0]?.data).toBe('typed while denied')
    await eventually(() => threads.threads.map(({ annotationId }) => annotationId)).toEqual(['a1'])
    for (const it of [connection, document, editor]) expect(it.reason).toBeUndefined()
    expect(threads.error).toBeUndefined()
    expect(errors).toBe(1)
  })
})
