import { existsSync, mkdtempSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { startGuard } from './guard.ts'
import { sharedChromium } from './chromium.ts'
import { sharedPostgres } from './shared-postgres.ts'
import { serveServices } from './shared-services.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    /** Where a worker asks for what the tests of the run share. */
    sharedServices: string
    /** Servers inside the processes of the tests keep their data here. It is removed after the run. */
    dataFolder: string
    /** The URL of the compiled `server.ts`. The bundled program of worker threads is beside it. */
    compiledServer: string
  }
}

const memory = '/dev/shm'
const minFreeBytes = 4 * 1024 ** 3

/** In memory if there is room: the tests that look for lost writes start processes, which keep their data on a disk. */
function createDataFolder(): string {
  const isLarge = existsSync(memory) && statfsSync(memory).bavail * statfsSync(memory).bsize >= minFreeBytes
  return mkdtempSync(join(isLarge ? memory : tmpdir(), 'plenum-tests-'))
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const dataFolder = createDataFolder()
  const guard = startGuard(dataFolder, true)
  const services = await serveServices({ postgres: sharedPostgres(), chromium: sharedChromium() })
  project.provide('dataFolder', dataFolder)
  project.provide('sharedServices', services.url)
  return async () => {
    await services.stop()
    guard.release()
  }
}
