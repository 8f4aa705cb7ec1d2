import { expect, test, vi } from 'vitest'
import type { Contents } from '../../store/editors/editors.ts'
import type { Participant } from '../documents/participant.ts'
import type { EditorRoom } from '../rooms/room.ts'
import { Declarations, type DeclarationsDeps } from './declarations.ts'

test('[R4.3] a declaration that arrives while another one is being stored is compared with the newer one', async () => {
  let stored: Contents = { type: 'text', contentKey: 'body' }
  const commits: (() => void)[] = []
  const declarations = new Declarations({
    gate: { run: async () => stored },
    storedDocuments: { declare: async () => 'notes' },
    commits: { write: () => new Promise((resolve) => commits.push(() => resolve(true))) },
  } as unknown as DeclarationsDeps)
  const room = {
    apiKey: 'key',
    ref: { organizationId: 'org_1', documentId: 'doc_1', editorId: 'note' },
    createdAt: 1,
    declared: stored,
    committed: { seq: 1, parts: [] },
  } as unknown as EditorRoom
  const sender = { identity: { userId: 'ada' }, mayStore: true } as unknown as Participant
  const first = declarations.declare(room, { type: undefined, contentKey: 'notes' }, sender)
  await vi.waitFor(() => expect(commits).toHaveLength(1))
  // Readers see the row before the server knows that it is on disk.
  stored = { type: null, contentKey: 'notes' }
  const second = declarations.declare(room, { type: 'text', contentKey: undefined }, sender)
  commits[0]?.()
  expect(await first).toBeUndefined()
  await vi.waitFor(() => expect(commits).toHaveLength(2))
  commits[1]?.()
  expect(await second).toBeUndefined()
  expect(room.declared).toEqual({ type: 'text', contentKey: 'notes' })
})
