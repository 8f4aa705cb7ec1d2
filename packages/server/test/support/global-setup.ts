import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { TestProject } from 'vitest/node'
import { bundleWorker } from '../../../../scripts/bundle.mjs'
import { openDatabase } from '../../src/store/engine/open.ts'
import { createDatabase, postgresForTests } from './services.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    /** The PostgreSQL on which tests create their own databases. */
    postgresUrl: string
    /** The name of a database with the newest schema. Copying it is faster than running all migrations again. */
    migratedDatabase: string
    /** The URL of a file beside the bundled program of worker threads. The file itself does not exist. */
    workerProgram: string
  }
}

/** Starts one PostgreSQL, and bundles the program of worker threads once, for the whole run. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const postgres = await postgresForTests()
  const url = await createDatabase(postgres.url)
  const database = await openDatabase({
    url,
    dataDir: '',
    durability: 'full',
    poolSize: 1,
    timeoutMs: 30_000,
  })
  await database.close()
  project.provide('postgresUrl', postgres.url)
  project.provide('migratedDatabase', new URL(url).pathname.slice(1))
  const program = mkdtempSync(join(tmpdir(), 'plenum-worker-'))
  await bundleWorker(program)
  project.provide('workerProgram', pathToFileURL(join(program, 'main.js')).href)
  return async () => {
    await postgres.stop()
    rmSync(program, { recursive: true })
  }
}
