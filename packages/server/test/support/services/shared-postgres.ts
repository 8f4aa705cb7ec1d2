import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { inject } from 'vitest'
import { openDatabase } from '../../../src/store/engine/open.ts'
import { createDatabase, givenOrStarted, type TestPostgres } from './postgres.ts'
import { MissingProgram } from './programs.ts'

/** The PostgreSQL on which the tests of a run create their own databases. */
export interface SharedPostgres {
  url: string
  /** The name of a database with the newest schema. Copying it is faster than running all migrations again. */
  migratedDatabase: string
}

type Answer = SharedPostgres | { missing: string } | { failed: string }

/**
 * Serves the address of one PostgreSQL for the whole run, which it starts when a test first asks for it. Returns the URL
 * under which the workers ask.
 */
export async function servePostgres(): Promise<{ url: string; stop(): Promise<void> }> {
  let started: Promise<TestPostgres> | undefined
  let answer: Promise<Answer> | undefined
  const server = createServer((_request, response) => {
    answer ??= describe((started ??= givenOrStarted()))
    void answer.then((known) => response.end(JSON.stringify(known)))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  // A run that is interrupted need not wait for it.
  server.unref()
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async stop() {
      server.close()
      await (await started?.catch(() => undefined))?.stop()
    },
  }
}

async function describe(starting: Promise<TestPostgres>): Promise<Answer> {
  try {
    const { url } = await starting
    return { url, migratedDatabase: await createMigratedDatabase(url) }
  } catch (error) {
    if (error instanceof MissingProgram) {
      console.log(`${error.message} Until then, the tests that need it are skipped.`)
      return { missing: error.message }
    }
    return { failed: error instanceof Error ? String(error.stack) : String(error) }
  }
}

async function createMigratedDatabase(adminUrl: string): Promise<string> {
  const url = await createDatabase(adminUrl)
  const settings = { url, dataDir: '', durability: 'full', poolSize: 1, timeoutMs: 30_000 } as const
  const database = await openDatabase(settings)
  await database.close()
  return new URL(url).pathname.slice(1)
}

let asked: Promise<SharedPostgres> | undefined

/** For workers: the PostgreSQL of this run. Throws `MissingProgram` if there is none. */
export const postgresForTests = (): Promise<SharedPostgres> => (asked ??= ask())

async function ask(): Promise<SharedPostgres> {
  const answer = (await (await fetch(inject('postgresService'))).json()) as Answer
  if ('missing' in answer) throw new MissingProgram(answer.missing)
  if ('failed' in answer) throw new Error(`PostgreSQL could not be started: ${answer.failed}`)
  return answer
}
