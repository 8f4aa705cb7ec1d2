import { createClient } from '@plenum/client'
import { expect, type TestContext } from 'vitest'
import { newFolder } from '../support/data/folders.ts'
import { secretKey, type Store } from '../support/harness.ts'
import { converged, synced } from '../support/clients/convergence.ts'
import { closeClients } from '../support/clients/open-clients.ts'
import { yjsClient } from '../support/clients/yjs-client.ts'
import { startProcess } from '../support/processes/process.ts'
import { freePort } from '../support/services/postgres.ts'
import { reportCounts, rounds } from '../support/random/effort.ts'
import { createRandom } from '../support/random/random.ts'
import { hocuspocusTypist, type Typist, yjsTypist } from '../support/clients/typists.ts'
import { createTenant, expectIntact, newSettings } from './kills.ts'

const random = createRandom()

const names = ['org_1/doc_1/a', 'org_1/doc_1/b', 'org_1/doc_2/a']

async function issueToken(url: string): Promise<string> {
  const client = createClient({ url, ...(await createTenant(url)) })
  const { data } = await client.auth.generateToken({
    userId: 'ada',
    userProperties: { name: 'Ada', email: 'ada@example.com' },
    permissions: { resources: [{ type: 'organization', id: 'org_1' }] },
  })
  return data.token
}

/** Kills the server repeatedly while unmodified clients type. Counts the confirmed and the lost updates. */
export async function killRepeatedly(program: 'server' | 'earlyAnswers', store: Store, kills: number) {
  const env = await newSettings(store)
  const confirmed = new Map(names.map((name) => [name, [] as string[]]))
  let lost = 0
  let token: string | undefined
  let server = await startProcess(program, env)
  for (let kill = 0; kill < kills; kill++) {
    token ??= await issueToken(server.url)
    const typists: Typist[] = []
    for (const [index, name] of names.entries()) {
      const suffix = `${kill}.${index}`
      typists.push(
        yjsTypist(server, token, name, `y${suffix}`),
        hocuspocusTypist(server, token, name, `h${suffix}`),
      )
    }
    await expect.poll(() => typists.every((one) => one.isReady()), { timeout: 20_000 }).toBe(true)
    const running = typists.map((one) => one.type())
    const count = () => typists.reduce((sum, one) => sum + one.confirmed.length, 0)
    // The kill waits for a random number of confirmations, so that slow machines type as much as fast ones.
    const enough = 30 + random(100)
    while (count() < enough) await new Promise((later) => setTimeout(later, random.fraction() * 5))
    await server.kill()
    for (const one of typists) one.stop()
    await Promise.all(running)
    for (const one of typists) confirmed.get(one.name)?.push(...one.confirmed)
    // No client with the typed text is connected when the server restarts, so none can send the text again.
    closeClients()

    server = await startProcess(program, env)
    for (const name of names) {
      const reader = yjsClient(server, token, { name })
      // PostgreSQL may still end the transactions of the killed server.
      await expect.poll(() => reader.provider.synced, { timeout: 60_000 }).toBe(true)
      const text = reader.text.toString()
      lost += confirmed.get(name)?.filter((word) => !text.includes(word)).length ?? 0
    }
    closeClients()
  }
  await server.terminate()
  const total = [...confirmed.values()].reduce((sum, words) => sum + words.length, 0)
  return { env, kills, confirmed: total, lost }
}

/** Fails if a killed server loses a confirmed update, or damages its file. */
export async function expectNothingLost(
  store: Store,
  killsPerRun: number,
  context: Pick<TestContext, 'task'>,
): Promise<void> {
  const { env, ...counts } = await killRepeatedly('server', store, rounds(killsPerRun))
  reportCounts(context, counts)
  expect(counts.lost).toBe(0)
  expect(counts.confirmed).toBeGreaterThanOrEqual(30 * counts.kills)
  expectIntact(env)
}

/** Fails if clients that stay open do not have everything that they typed after a server is killed. */
export async function expectConvergence(killsPerRun: number): Promise<void> {
  const env = { DATA_DIR: newFolder(), SECRET_KEY: secretKey, PORT: String(await freePort()) }
  let server = await startProcess('server', env)
  const token = await issueToken(server.url)
  const [name = ''] = names
  const typists = [1, 2, 3].flatMap((one) => [
    yjsTypist(server, token, name, `y${one}`),
    hocuspocusTypist(server, token, name, `h${one}`),
  ])
  await expect.poll(() => typists.every((one) => one.isReady()), { timeout: 20_000 }).toBe(true)
  for (let kill = 0; kill < rounds(killsPerRun); kill++) {
    const running = typists.map((one) => one.type())
    const before = typists.reduce((sum, one) => sum + one.confirmed.length, 0)
    await expect
      .poll(() => typists.reduce((sum, one) => sum + one.confirmed.length, 0), { timeout: 20_000 })
      .toBeGreaterThan(before + 50)
    await server.kill()
    server = await startProcess('server', env)
    await expect.poll(() => typists.every((one) => one.isReady()), { timeout: 20_000 }).toBe(true)
    for (const one of typists) one.stop()
    await Promise.all(running)
  }
  const reader = yjsClient(server, token, { name })
  await synced(reader)
  await converged(reader.doc, ...typists.map((one) => one.doc))
  const text = reader.text.toString()
  const words = typists.flatMap((one) => one.typed)
  expect(words.filter((word) => !text.includes(word))).toEqual([])
  closeClients()
  await server.terminate()
}
