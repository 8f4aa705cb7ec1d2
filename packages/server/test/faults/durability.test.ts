import { ApiError } from '@plenum/client'
import { describe, expect, test } from 'vitest'
import * as given from '../support/given.ts'
import { startServer, stores } from '../support/harness.ts'
import { expectNothingLost } from './durability.ts'

describe('[P1] an answered write survives SIGKILL at any moment', { retry: 0 }, () => {
  test.for(stores)(
    '[P1] a server on %s loses no acknowledged write when it is killed under load, and the file of SQLite stays intact',
    { timeout: 900_000 },
    (store, context) => expectNothingLost(store, 1, context),
  )
})

describe('[P2] an answer waits for the sync of the log', { retry: 0 }, () => {
  test('[P2] the server answers a write only after the sync that covers its commit has returned', async () => {
    const held: (() => void)[] = []
    let hold = false
    const server = await startServer('sqlite', {
      sync: (_fd, done) => {
        if (hold) held.push(() => done(null))
        else done(null)
      },
    })
    const { client } = await given.tenant(server)
    hold = true
    let answers = 0
    const write = (organizationId: string) =>
      client.organizations.add({ organizations: [{ organizationId }] }).then(() => answers++)

    const first = write('a')
    await expect.poll(() => held.length).toBe(1)
    // These commit while the first sync runs, so it does not cover them.
    const others = [write('b'), write('c')]
    await expect.poll(async () => (await client.organizations.get()).data.length).toBe(3)
    expect(answers).toBe(0)

    held.shift()?.()
    await first
    expect(answers).toBe(1)
    await expect.poll(() => held.length).toBe(1)
    await fetch(`${server.url}/healthz`)
    expect(answers).toBe(1)

    held.shift()?.()
    await Promise.all(others)
    expect(answers).toBe(3)
    hold = false
    await server.stop()
  })

  test('[P2] the server refuses the write whose sync fails and all later writes', async () => {
    let fail = false
    const server = await startServer('sqlite', {
      sync: (_fd, done) => done(fail ? Object.assign(new Error('EIO'), { code: 'EIO' }) : null),
    })
    const { client } = await given.tenant(server)
    fail = true
    await expect(client.organizations.add({ organizations: [{ organizationId: 'a' }] })).rejects.toThrow(
      ApiError,
    )
    fail = false
    await expect(client.organizations.add({ organizations: [{ organizationId: 'b' }] })).rejects.toThrow(
      ApiError,
    )
    await server.stop()
  })
})
