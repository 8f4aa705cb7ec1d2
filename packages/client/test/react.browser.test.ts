import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import type { ClientMessage } from '@plenum/protocol/realtime'
import * as given from '../../server/test/support/given.ts'
import { tokenFor } from '../../server/test/support/access/user-tokens.ts'
import type { InboxActions, ThreadActions } from '../src/react.ts'
import { useSite } from './support/pages.ts'

const site = useSite('test/support/react-page.ts')

interface Room {
  setPresence(own: { data: object }): void
  setPlayer(data: { position: number }): Promise<void>
  write(words: string): void
  editor: { awareness: { getStates(): Map<number, unknown> } } | undefined
  saveVersion(name: string): Promise<unknown>
  restoreVersion(name: string): Promise<void>
  /** The function of `useConnectionStatus`. */
  retry(): void
  /** The number of different objects that `useVersions` has returned. */
  countLists(): number
}

type PageGlobals = {
  plenum: { start(url: string, token: string | (() => Promise<string>)): void }
  isTokenBroken: boolean
  threadsError: string | undefined
  room: Room
  setDocumentId(documentId: string | undefined): void
  othersRenders: number
  showThreads(isShown: boolean): void
  threadActions: ThreadActions
  inboxActions: InboxActions
  sockets: WebSocket[]
}

async function visit(token: string, { isTokenBroken = false } = {}) {
  const tab = await site.browser.newPage()
  const messages: ClientMessage[] = []
  tab.on('websocket', (socket) =>
    socket.on('framesent', ({ payload }) => {
      if (typeof payload === 'string') messages.push(JSON.parse(payload))
    }),
  )
  await tab.addInitScript(() => {
    const sockets: WebSocket[] = []
    class RecordedSocket extends WebSocket {
      constructor(url: string | URL, protocols?: string | string[]) {
        super(url, protocols)
        sockets.push(this)
      }
    }
    Object.assign(globalThis, { sockets, WebSocket: RecordedSocket })
  })
  await tab.addInitScript((broken) => {
    ;(globalThis as unknown as PageGlobals).isTokenBroken = broken
  }, isTokenBroken)
  await tab.goto(`http://localhost:${site.page.port}/`)
  await tab.evaluate(
    ([url, token]) => {
      const page = globalThis as unknown as PageGlobals
      page.plenum.start(url, async () => {
        if (page.isTokenBroken) throw new Error('The token endpoint returned 500.')
        return token
      })
    },
    [site.server.url, token] as [string, string],
  )
  return { tab, messages, shown: () => shownIn(tab) }
}

const shownIn = async (tab: Page) => {
  const text = await tab.locator('pre').textContent()
  return JSON.parse(text ?? 'null')
}

test(
  '[K10] components render the current document, and only documents that are rendered stay open',
  { timeout: 300_000 },
  async () => {
    const tenant = await given.tenant(site.server)
    const ada = await visit(await tokenFor(tenant, 'ada'))
    const bob = await visit(await tokenFor(tenant, 'bob'))
    await expect.poll(ada.shown).toMatchObject({
      connection: 'connected',
      status: 'connected',
      role: 'editor',
      saved: true,
      readOnly: false,
    })
    await expect.poll(async () => (await ada.shown()).users.length).toBe(2)

    await bob.tab.evaluate(async () => {
      const { room } = globalThis as unknown as PageGlobals
      room.setPresence({ data: { cursor: 7 } })
      room.write('Hello')
      await room.setPlayer({ position: 42 })
    })
    await expect.poll(ada.shown).toMatchObject({ words: 'Hello', player: { position: 42 } })
    await expect.poll(async () => (await ada.shown()).users).toContainEqual(['bob', { cursor: 7 }])
    await expect.poll(bob.shown).toMatchObject({ words: 'Hello', player: { position: 42 }, saved: true })

    // Strict mode mounts every component twice, and several hooks use one document.
    expect(ada.messages.map(({ type }) => type).filter((type) => /open|close/i.test(type))).toEqual([
      'open',
      'openEditor',
    ])
    await ada.tab.evaluate(() => (globalThis as unknown as PageGlobals).setDocumentId('doc_2'))
    await expect.poll(ada.shown).toMatchObject({ words: '', role: 'editor' })
    await expect
      .poll(() => ada.messages.filter(({ type }) => /close/i.test(type)).map(({ type }) => type))
      .toEqual(['closeEditor', 'close'])
    await expect.poll(async () => (await bob.shown()).users).toEqual([['bob', { cursor: 7 }]])

    await ada.tab.evaluate(() => (globalThis as unknown as PageGlobals).setDocumentId('doc_1'))
    await expect.poll(ada.shown).toMatchObject({ words: 'Hello', player: { position: 42 } })
    const cursors = () =>
      ada.tab.evaluate(() => (globalThis as unknown as PageGlobals).room.editor?.awareness.getStates().size)
    await expect.poll(cursors).toBe(2)
    await bob.tab.close()
    await expect.poll(cursors).toBe(1)
  },
)

test(
  '[K10] what a component wrote while the connection was lost is saved after the component is unmounted',
  { timeout: 300_000 },
  async () => {
    const tenant = await given.tenant(site.server)
    const ada = await visit(await tokenFor(tenant, 'ada'))
    await expect.poll(ada.shown).toMatchObject({ status: 'connected', role: 'editor' })
    await ada.tab.evaluate(() => {
      const { room, setDocumentId, sockets } = globalThis as unknown as PageGlobals
      for (const socket of sockets) socket.close()
      room.write('typed')
      void room.setPlayer({ position: 42 })
      setDocumentId(undefined)
    })
    const at = { organizationId: 'org_1', documentId: 'doc_1' }
    const words = async () => (await tenant.client.crdt.get({ ...at, editorId: 'note' })).data[0]?.data
    await expect.poll(words, { timeout: 20_000 }).toBe('typed')
    await ada.tab.evaluate(() => (globalThis as unknown as PageGlobals).setDocumentId('doc_1'))
    await expect
      .poll(ada.shown, { timeout: 20_000 })
      .toMatchObject({ words: 'typed', player: { position: 42 } })
    await ada.tab.evaluate(() => (globalThis as unknown as PageGlobals).setDocumentId(undefined))
    await expect
      .poll(() =>
        ada.messages
          .filter(({ type }) => /close/i.test(type))
          .map(({ type }) => type)
          .slice(-2),
      )
      .toEqual(['closeEditor', 'close'])
    await ada.tab.close()
  },
)

test(
  '[K6] [K10] useSelf and useOthers follow the presence list, and useOthers renders only when another user changes',
  { timeout: 300_000 },
  async () => {
    const tenant = await given.tenant(site.server)
    const ada = await visit(await tokenFor(tenant, 'ada'))
    await expect.poll(ada.shown).toMatchObject({ self: ['ada', null], others: [] })
    const bob = await visit(await tokenFor(tenant, 'bob'))
    await expect.poll(ada.shown).toMatchObject({ self: ['ada', null], others: [['bob', null]] })
    await expect.poll(bob.shown).toMatchObject({ self: ['bob', null], others: [['ada', null]] })

    const renders = () => ada.tab.evaluate(() => (globalThis as unknown as PageGlobals).othersRenders)
    const move = ({ tab }: typeof ada, cursor: number) =>
      tab.evaluate(
        (cursor) => (globalThis as unknown as PageGlobals).room.setPresence({ data: { cursor } }),
        cursor,
      )
    const before = await renders()
    await move(ada, 1)
    await expect.poll(ada.shown).toMatchObject({ self: ['ada', 1] })
    await move(ada, 2)
    await expect.poll(ada.shown).toMatchObject({ self: ['ada', 2] })
    expect(await renders()).toBe(before)
    await move(bob, 3)
    await expect.poll(ada.shown).toMatchObject({ self: ['ada', 2], others: [['bob', 3]] })
    expect(await renders()).toBeGreaterThan(before)

    const phone = await visit(await tokenFor(tenant, 'ada'))
    await expect.poll(phone.shown).toMatchObject({ self: ['ada', null], others: [['bob', 3]] })
    await move(phone, 4)
    await expect.poll(ada.shown).toMatchObject({ self: ['ada', 4], others: [['bob', 3]] })
  },
)

test(
  '[K15.3] components render each version that is added, and can restore it',
  { timeout: 300_000 },
  async () => {
    const tenant = await given.tenant(site.server)
    const ada = await visit(await tokenFor(tenant, 'ada'))
    const bob = await visit(await tokenFor(tenant, 'bob'))
    for (const { shown } of [ada, bob]) {
      await expect.poll(shown).toMatchObject({ status: 'connected', versions: [], isLoading: false })
    }
    await ada.tab.evaluate(async () => {
      const { room } = globalThis as unknown as PageGlobals
      room.write('Hello')
      await room.saveVersion('Greeting')
      room.write(' world')
    })
    for (const { shown } of [ada, bob]) {
      await expect.poll(shown).toMatchObject({ words: 'Hello world', versions: [['Greeting', 'ada']] })
    }
    await bob.tab.evaluate(() => (globalThis as unknown as PageGlobals).room.restoreVersion('Greeting'))
    for (const { shown } of [ada, bob]) await expect.poll(shown).toMatchObject({ words: 'Hello' })
    // Every change of the document renders the component, but only a change of the list gives another object.
    const lists = await bob.tab.evaluate(() => (globalThis as unknown as PageGlobals).room.countLists())
    expect(lists).toBeLessThanOrEqual(3)
    expect(bob.messages.filter(({ type }) => type === 'listVersions')).toHaveLength(1)
    expect(bob.messages.find(({ type }) => type === 'openEditor')).toMatchObject({ contentType: 'text' })
  },
)

test(
  '[K17.3] [K18.3] [K19.2] components render the threads of a document, the inbox, and the lists of an organization',
  { timeout: 300_000 },
  async () => {
    const tenant = await given.tenant(site.server)
    const ada = await visit(await tokenFor(tenant, 'ada'))
    const bob = await visit(await tokenFor(tenant, 'bob'))
    const threadsIn = async ({ tab }: typeof ada) =>
      JSON.parse((await tab.locator('code').textContent()) ?? 'null')
    for (const user of [ada, bob]) {
      await expect.poll(user.shown).toMatchObject({ status: 'connected' })
      await user.tab.evaluate(() => (globalThis as unknown as PageGlobals).showThreads(true))
      await expect.poll(() => threadsIn(user)).toEqual({ isLoading: false, threads: [] })
    }
    const annotationId = await ada.tab.evaluate(() =>
      (globalThis as unknown as PageGlobals).threadActions.add({ commentText: 'Ready?' }),
    )
    const thread = { annotationId, texts: ['Ready?'], status: 'OPEN' }
    await expect.poll(() => threadsIn(bob)).toMatchObject({ threads: [{ ...thread, unread: true }] })
    await bob.tab.evaluate(async (id) => {
      const { threadActions } = globalThis as unknown as PageGlobals
      await threadActions.reply(id, { commentText: 'Yes.' })
      await threadActions.resolve(id)
    }, annotationId)
    await expect
      .poll(() => threadsIn(ada))
      .toMatchObject({
        threads: [{ annotationId, texts: ['Ready?', 'Yes.'], status: 'RESOLVED', unread: true }],
      })
    const listsOf = async ({ tab }: typeof ada) =>
      JSON.parse((await tab.locator('kbd').textContent()) ?? 'null')
    const lists = { isLoading: false, people: ['ada', 'bob'] }
    await expect.poll(() => listsOf(ada)).toEqual({ ...lists, documents: ['doc_1'] })
    await tenant.client.documents.update({
      organizationId: 'org_1',
      documents: [{ documentId: 'doc_1', documentName: 'Plan' }],
    })
    await expect.poll(() => listsOf(ada)).toEqual({ ...lists, documents: ['Plan'] })
    const inboxOf = async ({ tab }: typeof ada) =>
      JSON.parse((await tab.locator('samp').textContent()) ?? 'null')
    await expect.poll(() => inboxOf(ada)).toMatchObject({ isLoading: false, unreadCount: 2 })
    const { notifications } = await inboxOf(ada)
    expect(notifications.map(({ text }: { text: string }) => text)).toEqual(['Ready?', 'Yes.'])
    await ada.tab.evaluate(
      (id) => (globalThis as unknown as PageGlobals).inboxActions.markRead(id),
      notifications[0].id as string,
    )
    await expect.poll(() => inboxOf(ada)).toMatchObject({ unreadCount: 1 })
    // The editor and the presence of the document came back after the topic was added.
    await expect.poll(ada.shown).toMatchObject({ status: 'connected', connection: 'connected' })
  },
)

test(
  '[K21] components render why the token endpoint fails, and connect with a retry when it works again',
  { timeout: 300_000 },
  async () => {
    const tenant = await given.tenant(site.server)
    const ada = await visit(await tokenFor(tenant, 'ada'), { isTokenBroken: true })
    const reason = 'The token callback failed: The token endpoint returned 500.'
    await expect.poll(ada.shown).toMatchObject({
      connection: 'connecting',
      connectionReason: reason,
      status: 'connecting',
      reason,
    })
    await ada.tab.evaluate(() => (globalThis as unknown as PageGlobals).showThreads(true))
    const threadsError = () => ada.tab.evaluate(() => (globalThis as unknown as PageGlobals).threadsError)
    await expect.poll(threadsError).toBe(reason)
    await ada.tab.evaluate(() => {
      const page = globalThis as unknown as PageGlobals
      page.isTokenBroken = false
      page.room.retry()
    })
    await expect.poll(ada.shown).toMatchObject({ connection: 'connected', status: 'connected' })
    expect(await ada.shown()).not.toHaveProperty('connectionReason')
    await expect.poll(threadsError).toBeUndefined()
    await ada.tab.close()
  },
)

test(
  '[K2.4] [K21] components render that the browser is offline at once, and what was typed then arrives when it is online',
  { timeout: 300_000 },
  async () => {
    const tenant = await given.tenant(site.server)
    const ada = await visit(await tokenFor(tenant, 'ada'))
    await expect.poll(ada.shown).toMatchObject({ connection: 'connected', status: 'connected' })
    const context = ada.tab.context()
    await context.setOffline(true)
    await expect.poll(ada.shown).toMatchObject({
      connection: 'reconnecting',
      connectionReason: 'This device is offline. The client reconnects when the network is back.',
      status: 'reconnecting',
    })
    await ada.tab.evaluate(() => (globalThis as unknown as PageGlobals).room.write('typed offline'))
    await expect.poll(ada.shown).toMatchObject({ saved: false })
    await context.setOffline(false)
    await expect.poll(ada.shown, { timeout: 60_000 }).toMatchObject({ connection: 'connected', saved: true })
    const note = { organizationId: 'org_1', documentId: 'doc_1', editorId: 'note' }
    expect((await tenant.client.crdt.get(note)).data[0]?.data).toBe('typed offline')
    await ada.tab.close()
  },
)
