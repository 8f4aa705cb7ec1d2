import { describe, expect, onTestFinished, test } from 'vitest'
import { eventually, synced } from '../../support/clients/convergence.ts'
import { yjsClient } from '../../support/clients/yjs-client.ts'
import { startServer, stores, useServer } from '../../support/harness.ts'
import { tokenFor } from '../../support/access/user-tokens.ts'
import { tenantWith } from './editor-scene.ts'

const document = { organizationId: 'org_1', documentId: 'doc_1' }
const editor = { ...document, editorId: 'note' }
const text = (data: string, editorId = 'note') => ({ ...document, editorId, data, type: 'text' as const })

describe.each(stores)('events about changed editors on %s', (store) => {
  const server = useServer(store, { jobPollMs: 20 })
  const step = (ms: number) => void (server.clock.offsetMs += ms)

  test('[24.2.1] changes of REST and of live clients within 5 s are one event, and later changes another', async () => {
    const tenant = await tenantWith(server, true)
    const { client, events, waiting } = tenant
    await client.crdt.add(text('one'))
    const [job, ...others] = await waiting()
    expect(others).toEqual([])
    expect((job?.run_at ?? 0) - (job?.created_at ?? 0)).toBe(5_000)
    const ada = yjsClient(server, await tokenFor(tenant))
    await synced(ada)
    ada.text.insert(0, 'typed ')
    await eventually(async () => (await client.crdt.get(editor)).data[0]?.data).toBe('typed one')
    expect(await waiting()).toEqual([job])
    step(5_000)
    await eventually(events).toHaveLength(1)
    expect(await events()).toMatchObject([
      {
        ...document,
        actor: { userId: 'ada' },
        payload: { crdtData: { id: 'note', lastUpdatedBy: 'ada', sessionId: expect.any(String) } },
      },
    ])
    expect(await waiting()).toEqual([])
    await client.crdt.update(text('two'))
    expect(await waiting()).toHaveLength(1)
    step(5_000)
    await eventually(events).toHaveLength(2)
    expect((await events())[1]).not.toHaveProperty('actor')
  })

  test('[24.2.1] restoring a version announces a change, and content that stays equal does not', async () => {
    const { client, events, waiting } = await tenantWith(server, true)
    await client.crdt.add(text('one'))
    const { data } = await client.crdtVersions.add({ ...editor, name: 'first' })
    await client.crdt.update(text('two'))
    step(5_000)
    await eventually(events).toHaveLength(1)
    await client.crdt.update(text('two'))
    expect(await waiting()).toEqual([])
    await client.crdtVersions.restore({ ...editor, versionId: data.versionId })
    expect(await waiting()).toHaveLength(1)
  })

  test('[24.2.2] without a webhook that wants the event nothing is stored, and changed settings apply at once', async () => {
    const { client, waiting } = await tenantWith(server, false)
    await client.crdt.add(text('one'))
    expect(await waiting()).toEqual([])
    await client.webhookConfig.update({ webhookServiceConfig: { triggers: { 'crdt.update_data': true } } })
    await client.crdt.update(text('two'))
    expect(await waiting()).toHaveLength(1)
  })
})

test.each(stores)('[24.2.1] a change is announced after the server was restarted, on %s', async (store) => {
  const first = await startServer(store, { jobPollMs: 20 })
  const { client, apiKey, authToken } = await tenantWith(first, true)
  await client.crdt.add(text('one'))
  const second = await first.restart()
  onTestFinished(() => second.stop())
  second.clock.offsetMs += 5_000
  const names: ['crdt.update_data'] = ['crdt.update_data']
  const again = second.client({ apiKey, authToken })
  await expect.poll(async () => (await again.events.get({ names })).data.events).toHaveLength(1)
})
