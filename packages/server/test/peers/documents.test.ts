import type { LiveDocument } from '@plenum/client'
import { describe, expect, test } from 'vitest'
import { converged, eventually, synced } from '../support/clients/convergence.ts'
import { hocuspocusClient } from '../support/clients/hocuspocus-client.ts'
import { plenumConnection } from '../support/clients/plenum-client.ts'
import { RealtimeSocket } from '../support/clients/realtime-socket.ts'
import { yjsClient } from '../support/clients/yjs-client.ts'
import * as given from '../support/given.ts'
import { linkKinds } from '../support/servers/links.ts'
import { useReceivedMessages } from '../support/servers/received-messages.ts'
import { useTwoServers } from '../support/servers/two-servers.ts'
import { tokenFor } from '../support/access/user-tokens.ts'

/** A server that has just opened an editor sends everything to all servers for this long, until they have answered. */
const answerMs = 500

const ref = { organizationId: 'org_1', documentId: 'doc_1' }

describe.each(linkKinds)('documents that are open on two servers (%s)', (kind) => {
  const clock = { offsetMs: 0, stoppedMs: 0 }
  const receivedAbout = useReceivedMessages()
  const [a, b] = useTwoServers(kind, { clock })

  async function scene() {
    const tenant = await given.tenant(a)
    await given.document(tenant)
    const connect = async (server: typeof a, userId: string) =>
      plenumConnection(server.client(), await tokenFor(tenant, userId))
    return { ...tenant, connect, token: (userId: string) => tokenFor(tenant, userId) }
  }

  // First, so that no message of another test is on its way.
  test('[B1.6] a server gets no messages about what users type in a document that only another server has open', async () => {
    const { connect } = await scene()
    const editorOn = async (server: typeof a, userId: string) =>
      (await connect(server, userId)).document('org_1', 'doc_1').editor('note')
    const ada = await editorOn(a, 'ada')
    const type = async (count: number) => {
      for (let n = 0; n < count; n++) {
        ada.doc.getText().insert(0, 'a')
        await ada.whenSaved()
      }
    }
    await ada.whenSynced
    clock.stoppedMs += answerMs
    const before = receivedAbout('editor')
    await type(10)
    expect(receivedAbout('editor')).toBe(before)
    if (kind === 'no link') return
    const bob = await editorOn(b, 'bob')
    await eventually(() => bob.doc.getText().length).toBe(10)
    const beforeBoth = receivedAbout('editor')
    await type(10)
    // One message may be about several updates.
    await eventually(() => receivedAbout('editor')).toBeGreaterThan(beforeBoth)
  })

  test('[B2] what a user types reaches the clients of all servers, whatever their protocol', async () => {
    const { token } = await scene()
    const [ada, bob, cleo] = [
      yjsClient(a, await token('ada')),
      yjsClient(b, await token('bob')),
      hocuspocusClient(b, await token('cleo')),
    ]
    await synced(ada, bob, cleo)
    for (const [index, { text }] of [ada, bob, cleo].entries()) text.insert(0, `user ${index}. `)
    await eventually(() => [ada, bob, cleo].map(({ text }) => text.length)).toEqual([24, 24, 24])
    await converged(ada.doc, bob.doc, cleo.doc)
    for (let n = 0; n < 15; n++) {
      ada.text.insert(0, 'a')
      bob.text.insert(bob.text.length, 'b')
      cleo.text.insert(3, 'c')
      await new Promise((resolve) => setImmediate(resolve))
    }
    await eventually(() => [ada, bob, cleo].map(({ text }) => text.length)).toEqual([69, 69, 69])
    await converged(ada.doc, bob.doc, cleo.doc)
  })

  test('[B2] an editor that is created on one server is found by clients that opened it before on another', async () => {
    const { token, client } = await scene()
    const [ada, bob] = [yjsClient(a, await token('ada')), yjsClient(b, await token('bob'))]
    await synced(ada, bob)
    ada.text.insert(0, 'first')
    await eventually(() => bob.text.toString()).toBe('first')
    const editor = { ...ref, editorId: 'note', type: 'text' as const }
    await client.crdt.update({ ...editor, data: 'by REST' })
    await eventually(() => [ada, bob].map(({ text }) => text.toString())).toEqual(['by REST', 'by REST'])
  })

  test('[B1.5] what is typed in many editors at the same moment travels in few messages', async () => {
    const { connect } = await scene()
    const [ada, bob] = [await connect(a, 'ada'), await connect(b, 'bob')]
    const editorsOf = (connection: typeof ada) =>
      Array.from({ length: 15 }, (_, index) =>
        connection.document(ref.organizationId, ref.documentId).editor(`note-${index}`),
      )
    const [own, others] = [editorsOf(ada), editorsOf(bob)]
    await Promise.all([...own, ...others].map(({ whenSynced }) => whenSynced))
    const typeEverywhere = async (letters: number) => {
      for (const { doc } of own) doc.getText('content').insert(0, 'a')
      await eventually(() => others.every(({ doc }) => doc.getText('content').length === letters)).toBe(true)
    }
    const before = receivedAbout('editor')
    for (let letters = 1; letters <= 4; letters++) await typeEverywhere(letters)
    if (kind === 'no link') return expect(receivedAbout('editor')).toBe(before)
    // For each of the 60 letters, servers without batches would send a message.
    await eventually(() => receivedAbout('editor')).toBeGreaterThanOrEqual(before + 4)
    expect(receivedAbout('editor') - before).toBeLessThan(30)
  })

  test('[B2.1] [R11] a client that moves to another server does not get again what it has seen', async () => {
    const tenant = await scene()
    const connect = async (server: typeof a, userId = 'ada') =>
      RealtimeSocket.connect(server, await tenant.token(userId))
    // Another client keeps the document open on the other server, which may not know of the latest change yet.
    const bob = await connect(b, 'bob')
    await bob.open()
    for (let n = 0; n < 3; n++) {
      const before = await connect(a)
      const { position } = await before.open()
      await before.set('state', { n })
      const since = { ...position, seq: position.seq + 1 }
      const opened = await (await connect(b)).open('doc_1', { since })
      expect(opened).toMatchObject({ reset: false, liveStates: [] })
    }
  })

  test('[B2] live states, threads and notifications reach the clients of all servers', async () => {
    const { connect, client } = await scene()
    await client.users.add({ organizationId: 'org_1', users: [{ userId: 'ada' }, { userId: 'bob' }] })
    const [ada, bob] = [await connect(a, 'ada'), await connect(b, 'bob')]
    const [here, there] = [ada, bob].map((one) =>
      one.document('org_1', 'doc_1', { topics: ['liveState', 'comments'] }),
    ) as [LiveDocument, LiveDocument]
    const states = [here.liveState('cursor'), there.liveState('cursor')] as const
    for (const state of states) state.subscribe(() => {})
    const { threads } = there
    threads.subscribe(() => {})
    const inbox = bob.inbox('org_1')
    inbox.subscribe(() => {})
    await eventually(() => inbox.isLoading).toBe(false)
    await states[0].set({ x: 1 })
    await eventually(() => states[1].value).toEqual({ x: 1 })
    await states[1].set({ x: 2 })
    await eventually(() => states[0].value).toEqual({ x: 2 })
    await client.commentAnnotations.add({
      ...ref,
      commentAnnotations: [
        { annotationId: 'a1', commentData: [{ commentText: 'hello', from: { userId: 'ada' } }] },
      ],
    })
    await eventually(() => threads.state.threads.map(({ annotationId }) => annotationId)).toEqual(['a1'])
    await client.notifications.add({
      ...ref,
      actionUser: { userId: 'ada' },
      displayHeadlineMessageTemplate: '{actionUser} says',
      displayBodyMessage: 'look',
      notifyUsers: [{ userId: 'bob' }],
      notifyAll: false,
    })
    await eventually(() => inbox.notifications.length).toBe(1)
    expect(a.logged.concat(b.logged).filter((line) => line.includes('"level":50'))).toEqual([])
  })
})
