import { describe, expect, test } from 'vitest'
import * as Y from 'yjs'
import * as given from '../../support/given.ts'
import { anyStore, stores, useServer } from '../../support/harness.ts'
import { storedLog } from '../../support/data/editors.ts'
import { storedLiveStates } from '../../support/data/live-documents.ts'
import { eventually } from '../../support/clients/convergence.ts'
import { tokenFor } from '../../support/access/user-tokens.ts'
import { withPostgres } from '../../support/faults/postgres-faults.ts'
import { interruptibleNetwork, plenumConnection } from '../../support/clients/plenum-client.ts'
import { type RawClient } from '../../support/clients/raw-client.ts'
import { type Dialect, dialects, rawClient } from '../../support/clients/raw-clients.ts'
import { RealtimeSocket } from '../../support/clients/realtime-socket.ts'
import type { RawRealtime } from '../../support/clients/raw-realtime.ts'
import { metric } from '../../support/measures/metrics-page.ts'
import { textIn, textOf, wordsIn, wordUpdate } from '../../support/random/words.ts'
const editorRef = { organizationId: 'org_1', documentId: 'doc_1', editorId: 'note' }
const document = { type: 'document', id: 'doc_1', organizationId: 'org_1' } as const

/** One tick of the server stores at most 64 KiB of an editor, so each of these updates needs its own tick. */
function largeUpdate(word: string): Uint8Array {
  const doc = new Y.Doc()
  doc.getText('content').insert(0, `<${word}>${'x'.repeat(50_000)}`)
  return Y.encodeStateAsUpdate(doc)
}

const revocations = {
  'an editor who becomes a viewer': ({ client }: given.Tenant) =>
    client.permissions.add({
      userId: 'ada',
      permissions: { resources: [{ ...document, accessRole: 'viewer' }] },
    }),
  'a user who is removed': ({ client }: given.Tenant) =>
    client.permissions.remove({ userId: 'ada', permissions: { resources: [document] } }),
}

describe.each(stores)('updates that wait while access ends on %s', (store) => {
  const server = useServer(store, { isOwn: true })

  async function scene(dialect: Dialect) {
    const tenant = await given.tenant(server)
    await given.restrictedDocument(tenant, 'doc_1')
    const open = async (userId: string) => {
      const token = await tokenFor(tenant, userId, { resources: [document] })
      const client = rawClient(server, dialect, { ...editorRef, token })
      expect(await client.opened()).not.toHaveProperty('reason')
      return client
    }
    /** Returns the stored words of all users. */
    const stored = async () => {
      const log = await storedLog(server, tenant, editorRef)
      const updates = log?.updates.map(({ bytes }) => bytes) ?? []
      return new Set(wordsIn(textOf(...(log?.snapshot ? [log.snapshot] : []), ...updates)))
    }
    return { tenant, open, stored }
  }

  describe.each(store === anyStore ? dialects : (['realtime'] as const))('at /%s', (dialect) => {
    test.each(Object.entries(revocations))(
      '[R32] [R32.2] [R32.3] waiting updates of %s are not stored after the answer to the call that changed the access, and other users lose no updates',
      async (_, revoke) => {
        const { tenant, open, stored } = await scene(dialect)
        // With fewer clients and updates, none is being stored while the access changes.
        const adas = await Promise.all(Array.from({ length: 6 }, () => open('ada')))
        const bob = await open('bob')
        await bob.update(largeUpdate('first'))
        const sent = new Map<string, Promise<string>>()
        const send = (client: RawClient, word: string) => sent.set(word, client.update(largeUpdate(word)))
        for (let number = 0; number < 8; number++) {
          for (const [index, ada] of adas.entries()) send(ada, `ada.${index}.${number}`)
          send(bob, `bob.${number}`)
        }
        // Some updates are stored, and most of them wait.
        await eventually(async () => (await stored()).size).toBeGreaterThan(3)
        await revoke(tenant)
        const atAnswer = await stored()
        const outcomes = new Map<string, string>()
        for (const [word, outcome] of sent) outcomes.set(word, await outcome)

        const atEnd = await stored()
        const later = [...atEnd].filter((word) => word.startsWith('ada') && !atAnswer.has(word))
        expect(later).toEqual([])
        for (const [word, outcome] of outcomes) {
          if (word.startsWith('bob')) expect([word, outcome]).toEqual([word, 'saved'])
          else if (outcome === 'saved') expect(atEnd).toContain(word)
        }
        const refused = [...outcomes.values()].filter((outcome) => outcome === 'refused')
        expect(refused.length).toBeGreaterThan(0)
        expect(bob.ending).toBeUndefined()
        // The stored updates are a valid document, and late joiners see the same content.
        const { data } = await tenant.client.crdt.get(editorRef)
        expect(new Set(wordsIn(textIn(data[0] ?? {})))).toEqual(atEnd)
        const carol = await open('carol')
        expect(new Set(wordsIn((await carol.readWithUpdates()) ?? ''))).toEqual(atEnd)
        expect(await carol.update(largeUpdate('carol'))).toBe('saved')
      },
    )

    test('[R32.1] [R32.2] waiting updates of a removed user are not stored after the removal, even if its clients have left', async () => {
      const { tenant, open, stored } = await scene(dialect)
      const adas = await Promise.all(Array.from({ length: 3 }, () => open('ada')))
      const sent = adas.flatMap((ada, index) =>
        Array.from({ length: 5 }, (_, number) => ada.update(largeUpdate(`ada.${index}.${number}`))),
      )
      await sent[3]
      await Promise.all(adas.map((ada) => ada.close()))
      await revocations['a user who is removed'](tenant)
      const atAnswer = await stored()
      const bob = await open('bob')
      expect(await bob.update(largeUpdate('bob'))).toBe('saved')
      expect(await stored()).toEqual(new Set([...atAnswer, 'bob']))
    })
  })

  test('[R32.3] updates that a client sent before it left are stored although the access of other users changes', async () => {
    const { tenant, open, stored } = await scene('yjs')
    const bob = await open('bob')
    const words = Array.from({ length: 8 }, (_, number) => `bob.${number}`)
    for (const word of words) void bob.update(largeUpdate(word))
    await bob.close()
    await revocations['a user who is removed'](tenant)
    await eventually(stored).toEqual(new Set(words))
  })

  test('[R32.2] live states that wait while an editor becomes a viewer are not stored after the answer to the call that changed the role', async () => {
    const { tenant, open } = await scene('realtime')
    const ada = (await open('ada')) as RawRealtime
    const setting = Array.from({ length: 1_000 }, (_, number) =>
      ada.setLiveState(`s${number % 900}`, { number, text: 'x'.repeat(500) }),
    )
    await setting[0]
    await revocations['an editor who becomes a viewer'](tenant)
    const stored = () =>
      server.database.read
        .selectFrom('live_states')
        .select(['live_state_data_id', 'seq'])
        .where('api_key', '=', tenant.apiKey)
        .execute()
    const atAnswer = await stored()
    expect(await Promise.all(setting)).toContain('refused')
    expect(await stored()).toEqual(atAnswer)
  })
})

test('[R32.1] [R32.2] a live state that waits for the database while its sender leaves and loses access is not stored', async () => {
  const { server, tenant, block, blocked } = await withPostgres()
  const other = await given.tenant(server)
  await given.restrictedDocument(tenant, 'doc_1')
  const ada = await RealtimeSocket.connect(server, await tokenFor(tenant, 'ada', { resources: [document] }))
  await ada.open()
  const bob = await RealtimeSocket.connect(server, await tokenFor(other, 'bob'))
  await bob.open()
  expect(await ada.set('a', { n: 1 })).toMatchObject({ type: 'done' })
  const unblock = await block('lock table live_states in exclusive mode')
  ada.send({ type: 'setLiveState', ref: 1, id: 2, liveStateDataId: 'a', data: { n: 2 } })
  await eventually(blocked).toHaveLength(1)
  await ada.close()
  await bob.close()
  // Then the server has looked for documents that it can drop.
  await expect.poll(() => metric(server, 'plenum_open_documents')).toBeLessThan(2)
  await revocations['a user who is removed'](tenant)
  await unblock()
  // Everything that clients sent is stored or refused before the server ends.
  await Promise.all(server.all.map((one) => one.server.stop()))
  const stored = await storedLiveStates(server, tenant)
  expect(stored.map(({ data }) => data)).toEqual([{ n: 1 }])
})

describe.each([
  ['to be stored', true],
  // Before a user becomes the owner of a Yjs client id, the server reads what other servers have stored.
  ['for the rows of other servers', false],
])('updates that wait %s while their sender becomes a viewer', (_, isOwner) => {
  test('[R3] are refused in every dialect, and a sync step 2 without changes that follows them is acknowledged', async () => {
    const { server, block, blocked } = await withPostgres()
    for (const dialect of dialects) {
      const tenant = await given.tenant(server)
      await given.restrictedDocument(tenant, 'doc_1')
      const token = await tokenFor(tenant, 'ada', { resources: [document] })
      const open = (by: Dialect) => rawClient(server, by, { ...editorRef, token })
      const ada = open(dialect)
      await ada.opened()
      // A client of the same user that the server tells the role.
      const other = open('realtime')
      const stored = wordUpdate('stored')
      expect(await other.update(stored)).toBe('saved')
      const doc = new Y.Doc()
      const typed = (text: string) => {
        const before = Y.encodeStateVector(doc)
        doc.getText('content').insert(0, text)
        return Y.encodeStateAsUpdate(doc, before)
      }
      if (isOwner) expect(await ada.update(typed('stored'))).toBe('saved')

      const unblock = await block('lock table editor_updates in access exclusive mode')
      const outcomes = [ada.update(typed('waiting')), ada.syncStep2(typed('more')), ada.syncStep2(stored)]
      await eventually(blocked).toHaveLength(1)
      const revoking = revocations['an editor who becomes a viewer'](tenant)
      await other.until(() => other.roles.at(-1) === 'viewer')
      await unblock()
      await revoking
      expect([dialect, ...(await Promise.all(outcomes))]).toEqual([dialect, 'refused', 'refused', 'saved'])
      await Promise.all([ada.close(), other.close()])
    }
  })
})

describe('a client that reconnects while its update waits', () => {
  type Postgres = Awaited<ReturnType<typeof withPostgres>>

  /** A document that Ada may write. `block` keeps her next updates from being stored. */
  async function scene({ server, block, blocked }: Postgres) {
    const tenant = await given.tenant(server)
    await given.restrictedDocument(tenant, 'doc_1')
    return {
      tenant,
      token: await tokenFor(tenant, 'ada', { resources: [document] }),
      block: () => block('select * from editors for update'),
      isBlocked: () => eventually(blocked).toHaveLength(1),
      content: async () => (await tenant.client.crdt.get(editorRef)).data[0]?.data,
    }
  }

  async function withWaitingUpdate(postgres: Postgres, dialect: Dialect) {
    const { token, block, isBlocked, ...others } = await scene(postgres)
    const doc = new Y.Doc()
    const text = doc.getText('content')
    const open = () => rawClient(postgres.server, dialect, { ...editorRef, token })
    const before = open()
    text.insert(0, 'stored ')
    expect(await before.update(Y.encodeStateAsUpdate(doc))).toBe('saved')
    const unblock = await block()
    const known = Y.encodeStateVector(doc)
    text.insert(7, 'waiting')
    void before.update(Y.encodeStateAsUpdate(doc, known))
    await isBlocked()
    /** Connects, and sends what the server lacks according to its own state vector. */
    const reconnect = async () => {
      const after = open()
      expect(await after.read()).toBe('stored ')
      await unblock()
      await after.until(() => after.stateVectors.length > 0)
      const missing = Y.encodeStateAsUpdate(doc, after.stateVectors[0])
      expect(Buffer.from(missing).toString('latin1')).toContain('waiting')
      return after.syncStep2(missing)
    }
    return { ...others, before, reconnect }
  }

  test('[R32.4] in every dialect a viewer is asked again for the update that it sent as an editor, and the update is refused', async () => {
    const postgres = await withPostgres()
    for (const dialect of dialects) {
      const { tenant, before, reconnect, content } = await withWaitingUpdate(postgres, dialect)
      before.terminate()
      await revocations['an editor who becomes a viewer'](tenant)
      expect([dialect, await reconnect(), await content()]).toEqual([dialect, 'refused', 'stored '])
    }
  })

  test('[R32.4] in every dialect an editor who was removed and added again is asked again for the refused update, and the update is stored', async () => {
    const postgres = await withPostgres()
    for (const dialect of dialects) {
      const { tenant, before, reconnect, content } = await withWaitingUpdate(postgres, dialect)
      await revocations['a user who is removed'](tenant)
      expect(await before.ended).not.toHaveProperty('code', 1006)
      await tenant.client.permissions.add({ userId: 'ada', permissions: { resources: [document] } })
      expect([dialect, await reconnect(), await content()]).toEqual([dialect, 'saved', 'stored waiting'])
    }
  })

  test('[K7] [R32.4] the client does not report a change as saved that is refused because its user became a viewer', async () => {
    const postgres = await withPostgres()
    const { tenant, token, block, isBlocked } = await scene(postgres)
    const network = interruptibleNetwork()
    const { WebSocket } = network
    const connection = plenumConnection(postgres.server.client(), token, { WebSocket })
    const editor = connection.document('org_1', 'doc_1').editor('note')
    const errors: string[] = []
    connection.on('error', ({ status }) => errors.push(status))
    await editor.whenSynced
    const text = editor.doc.getText('content')
    text.insert(0, 'stored ')
    await editor.whenSaved()
    const unblock = await block()
    text.insert(7, 'waiting')
    await isBlocked()
    network.cut()
    await revocations['an editor who becomes a viewer'](tenant)
    network.restore(connection)
    await eventually(() => network.of('editorOpened')).toHaveLength(1)
    await unblock()
    await eventually(() => errors).toEqual(['PERMISSION_DENIED'])
    expect(editor.saved).toBe(false)
  })
})
