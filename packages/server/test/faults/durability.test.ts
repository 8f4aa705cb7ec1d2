import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { ApiError, createClient } from '@plenum/client'
import { afterAll, describe, expect, test } from 'vitest'
import * as given from '../support/given.ts'
import { createPostgresDatabase, startServer } from '../support/harness.ts'
import { startProcess } from '../support/processes/process.ts'
import type { ServerProcess } from '../support/processes/server-process.ts'
import { reportCounts, rounds } from '../support/random/effort.ts'
import { createRandom } from '../support/random/random.ts'

const kills = rounds(3)
const folders: string[] = []
const newFolder = () => {
  const folder = mkdtempSync(join(tmpdir(), 'plenum-kill-'))
  folders.push(folder)
  return folder
}

interface Trial {
  program: 'server' | 'earlyAnswers'
  env: Record<string, string>
  kills: number
}

/** Creates a workspace with its first key. The control server answers before it stores them, so this function waits. */
async function createTenant(url: string) {
  const { data: workspace } = await createClient({ url }).workspace.create({ ownerEmail: 'kill@example.com' })
  const [apiKey] = Object.keys(workspace.apiKeyList) as [string]
  const owner = createClient({ url, workspaceId: workspace.id, workspaceAuthToken: workspace.authToken })
  const tokens = () =>
    owner.authTokens.get({ apiKey }).then(
      ({ data }) => data.authTokens,
      () => [],
    )
  await expect.poll(tokens).toHaveLength(1)
  return { apiKey, authToken: (await tokens())[0]?.token ?? '' }
}

/** Kills the server repeatedly under concurrent writes. Counts acknowledged writes, and how many of them are lost. */
async function killRepeatedly({ program, env, kills }: Trial) {
  const random = createRandom()
  const acknowledged: string[] = []
  let credentials: Awaited<ReturnType<typeof createTenant>> | undefined
  let lost = 0
  let next = 0

  const clientOf = async ({ url }: ServerProcess) => {
    credentials ??= await createTenant(url)
    return createClient({ url, ...credentials, retries: 0 })
  }

  let server = await startProcess(program, env)
  for (let kill = 0; kill < kills; kill++) {
    const client = await clientOf(server)
    const round: string[] = []
    let running = true
    const writers = Array.from({ length: 8 }, async () => {
      while (running) {
        const organizationId = `org-${next++}`
        try {
          await client.organizations.add({ organizations: [{ organizationId }] })
          round.push(organizationId)
        } catch (error) {
          // Without an answer, the error has the network error as its cause.
          if (error instanceof ApiError && error.cause === undefined) throw error
          return
        }
      }
    })
    // The kill waits for a random number of answers, so that slow machines write as much as fast ones.
    const enough = 10 + random(60)
    while (round.length < enough) await new Promise((later) => setTimeout(later, random.fraction() * 5))
    await server.kill()
    running = false
    await Promise.all(writers)
    server = await startProcess(program, env)
    const survivors = await clientOf(server)
    for (let at = 0; at < round.length; at += 30) {
      const ids = round.slice(at, at + 30)
      const { data } = await survivors.organizations.get({ organizationIds: ids })
      lost += ids.length - data.length
    }
    acknowledged.push(...round)
  }

  // Writes that survived one kill must also survive the later ones.
  const client = await clientOf(server)
  const found = new Set<string>()
  for (let pageToken: string | undefined, more = true; more; more = pageToken !== undefined) {
    const page = await client.organizations.get({ pageSize: 1000, ...(pageToken && { pageToken }) })
    for (const { id } of page.data) found.add(id)
    pageToken = page.nextPageToken
  }
  await server.terminate()
  const missing = acknowledged.filter((id) => !found.has(id)).length
  return { kills, acknowledged: acknowledged.length, lost: Math.max(lost, missing) }
}

describe('[P1] an answered write survives SIGKILL at any moment', { retry: 0 }, () => {
  afterAll(() => {
    for (const folder of folders) rmSync(folder, { recursive: true, force: true })
  })
  const SECRET_KEY = 'a secret key that only these tests use'

  test(
    '[P1] a server on SQLite loses no acknowledged write when it is killed under load, and its file stays intact',
    { timeout: 900_000 },
    async (context) => {
      const DATA_DIR = newFolder()
      const counts = await killRepeatedly({ program: 'server', env: { DATA_DIR, SECRET_KEY }, kills })
      reportCounts(context, counts)
      expect(counts.lost).toBe(0)
      expect(counts.acknowledged).toBeGreaterThanOrEqual(10 * kills)
      const db = new DatabaseSync(join(DATA_DIR, 'plenum.db'))
      expect(db.prepare('pragma integrity_check').get()).toEqual({ integrity_check: 'ok' })
      db.close()
    },
  )

  test(
    '[P1] a server on PostgreSQL loses no acknowledged write when it is killed under load',
    { timeout: 900_000 },
    async (context) => {
      const env = { DATA_DIR: newFolder(), SECRET_KEY, DATABASE_URL: await createPostgresDatabase() }
      const counts = await killRepeatedly({ program: 'server', env, kills })
      reportCounts(context, counts)
      expect(counts.lost).toBe(0)
      expect(counts.acknowledged).toBeGreaterThanOrEqual(10 * kills)
    },
  )

  test(
    '[P1] the test detects lost writes of a control server that answers before it commits',
    { timeout: 900_000 },
    async () => {
      const env = { DATA_DIR: newFolder(), SECRET_KEY }
      const { lost } = await killRepeatedly({ program: 'earlyAnswers', env, kills: 2 })
      expect(lost).toBeGreaterThan(0)
    },
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
