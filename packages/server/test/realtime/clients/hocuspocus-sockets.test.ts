import type { HocuspocusProvider } from '@hocuspocus/provider'
import { describe, expect, onTestFinished, test } from 'vitest'
import * as given from '../../support/given.ts'
import { anyStore, startServer, useServer } from '../../support/harness.ts'
import { converged, eventually, synced } from '../../support/clients/convergence.ts'
import { hocuspocusClient, hocuspocusSocket, saved } from '../../support/clients/hocuspocus-client.ts'
import { closeClients, type ProviderClient } from '../../support/clients/open-clients.ts'
import { tokenFor } from '../../support/access/user-tokens.ts'

describe('providers and sockets of Hocuspocus clients', () => {
  const server = useServer(anyStore)

  test('[R6] a provider that is detached and attached again, also immediately, syncs in both directions', async () => {
    const tenant = await given.tenant(server)
    const ada = hocuspocusClient(server, await tokenFor(tenant))
    const bob = hocuspocusClient(server, await tokenFor(tenant, 'bob'))
    await synced(ada, bob)
    ada.provider.detach()
    await eventually(() => bob.provider.awareness?.getStates().has(ada.doc.clientID)).toBe(false)
    ada.text.insert(0, 'while away')
    bob.text.insert(0, 'meanwhile, ')
    await saved(bob)
    expect(ada.text.toJSON()).toBe('while away')
    ada.provider.attach()
    await converged(ada.doc, bob.doc)
    await saved(ada)
    for (let again = 0; again < 3; again++) {
      ada.provider.detach()
      ada.provider.attach()
    }
    await eventually(() => ada.provider.isAuthenticated).toBe(true)
    await saved(ada)
    bob.text.insert(0, 'once more, ')
    await converged(ada.doc, bob.doc)
    ada.text.insert(0, 'and ')
    await saved(ada)
    await converged(ada.doc, bob.doc)
  })

  test('[R6] a provider that replaces an unauthenticated one on the same socket syncs, and gets the text typed in the first one', async () => {
    const tenant = await given.tenant(server)
    const token = await tokenFor(tenant)
    const socket = hocuspocusSocket(server)
    await eventually(() => socket.status).toBe('connected')
    // Frameworks that mount components twice do this.
    const first = hocuspocusClient(server, token, { socket })
    await Promise.resolve()
    first.text.insert(0, 'typed and gone ')
    first.provider.destroy()
    const second = hocuspocusClient(server, token, { socket })
    await synced(second)
    await saved(second)
    await eventually(() => second.text.toJSON()).toBe('typed and gone ')
    second.provider.setAwarenessField('cursor', 1)
    const bob = hocuspocusClient(server, await tokenFor(tenant, 'bob'))
    await eventually(() => bob.provider.awareness?.getStates().get(second.doc.clientID)).toEqual({
      cursor: 1,
    })
    expect(bob.provider.awareness?.getStates().has(first.doc.clientID)).toBe(false)
  })

  test('[R1.4] an update that a provider sends right before it is destroyed is stored', async () => {
    const tenant = await given.tenant(server)
    const ada = hocuspocusClient(server, await tokenFor(tenant))
    await synced(ada)
    ada.text.insert(0, 'last words')
    ada.provider.destroy()
    ada.socket.destroy()
    const late = hocuspocusClient(server, await tokenFor(tenant))
    await eventually(() => late.text.toJSON()).toBe('last words')
  })

  test('[R6] [R6.5] many editors share a socket, and denying one of them leaves the others connected', async () => {
    const tenant = await given.tenant(server)
    const token = await tokenFor(tenant)
    const socket = hocuspocusSocket(server)
    await given.restrictedDocument(tenant, 'locked')
    const names = Array.from({ length: 60 }, (_, index) => `org_1/doc_${index % 7}/editor ${index}`)
    const open = (name: string) => hocuspocusClient(server, token, { socket, name })
    // The server closes a socket on which a provider was denied and none is accepted (R48.4), and then the denied one would
    // reconnect and be denied again. So one provider is accepted before.
    const first = open(names[0] as string)
    await synced(first)
    const reasons: string[] = []
    const denied = hocuspocusClient(server, token, {
      socket,
      name: 'org_1/locked/note',
      onAuthenticationFailed: ({ reason }) => reasons.push(reason),
    })
    const clients = [first, ...names.slice(1).map(open)]
    await expect
      .poll(() => clients.every(({ provider }) => provider.isSynced), { timeout: 60_000 })
      .toBe(true)
    await eventually(() => reasons).toEqual(['The user may not open this document.'])
    for (const [index, { text }] of clients.entries()) text.insert(0, `text ${index}`)
    denied.text.insert(0, 'nothing')
    await saved(...clients)
    for (const index of [0, 31, 59]) {
      const reader = hocuspocusClient(server, token, { name: names[index] as string })
      await synced(reader)
      expect(reader.text.toJSON()).toBe(`text ${index}`)
    }
    expect(denied.provider).toMatchObject({
      isAuthenticated: false,
      isSynced: false,
      hasUnsyncedChanges: true,
    })
    expect(socket.status).toBe('connected')
  })

  test('[R6] two providers of one editor on one socket, with session ids, see the text and cursors of each other', async () => {
    const tenant = await given.tenant(server)
    const token = await tokenFor(tenant)
    const socket = hocuspocusSocket(server)
    const open = () => hocuspocusClient(server, token, { socket, sessionAwareness: true })
    const cursors = ({ provider }: ProviderClient<HocuspocusProvider>) =>
      [...(provider.awareness?.getStates().values() ?? [])].map((state) => state.cursor).toSorted()
    const [one, two] = [open(), open()]
    await synced(one, two)
    one.provider.setAwarenessField('cursor', 1)
    two.provider.setAwarenessField('cursor', 2)
    one.text.insert(0, 'from one')
    await eventually(() => two.text.toJSON()).toBe('from one')
    await eventually(() => cursors(one)).toEqual([1, 2])
    one.provider.destroy()
    const three = open()
    await synced(three)
    three.provider.setAwarenessField('cursor', 3)
    await eventually(() => cursors(two)).toEqual([2, 3])
    await eventually(() => cursors(three)).toEqual([2, 3])
    two.text.insert(0, 'and two, ')
    await eventually(() => three.text.toJSON()).toBe('and two, from one')
    await saved(two, three)
  })

  test('[R6.8] an eleventh provider of one editor on one socket is refused, and the other providers continue', async () => {
    const tenant = await given.tenant(server)
    const token = await tokenFor(tenant)
    const socket = hocuspocusSocket(server)
    const open = (onAuthenticationFailed?: (refusal: { reason: string }) => void) =>
      hocuspocusClient(server, token, { socket, sessionAwareness: true, onAuthenticationFailed })
    const providers = Array.from({ length: 10 }, () => open())
    await synced(...providers)
    const refused = new Promise<{ reason: string }>((resolve) => open(resolve))
    expect((await refused).reason).toBe('A connection has at most 10 providers of one editor.')
    providers[0]?.provider.destroy()
    await synced(open())
    providers[1]?.text.insert(0, 'still here')
    await eventually(() => providers[2]?.text.toJSON()).toBe('still here')
  })

  test('[R6] clients reconnect by themselves after a restart and send what they typed meanwhile', async () => {
    const before = await startServer(anyStore)
    const tenant = await given.tenant(before)
    const states: boolean[] = []
    const ada = hocuspocusClient(before, await tokenFor(tenant))
    const bob = hocuspocusClient(before, await tokenFor(tenant, 'bob'))
    await synced(ada, bob)
    ada.provider.on('synced', ({ state }: { state: boolean }) => states.push(state))
    ada.text.insert(0, 'before, ')
    await saved(ada)
    const restarting = before.restart()
    await eventually(() => ada.provider.isSynced).toBe(false)
    ada.text.insert(ada.text.length, 'away, ')
    const after = await restarting
    onTestFinished(() => {
      closeClients()
      return after.stop()
    })
    await eventually(() => states).toEqual([true])
    await synced(bob)
    ada.text.insert(ada.text.length, 'after')
    await eventually(() => bob.text.toJSON()).toBe('before, away, after')
    await saved(ada, bob)
    await converged(ada.doc, bob.doc)
  })
})
