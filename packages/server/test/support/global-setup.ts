import type { TestProject } from 'vitest/node'
import { postgresForTests } from './services.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    /** The PostgreSQL on which tests create their own databases. */
    postgresUrl: string
  }
}

/** One PostgreSQL for the whole run. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const postgres = await postgresForTests()
  project.provide('postgresUrl', postgres.url)
  return () => postgres.stop()
}
