import { Script } from 'node:vm'

const call = new Script('plenumTestWork()')
const worldOfScripts = globalThis as { plenumTestWork?: (() => unknown) | undefined }

/** Ends what would keep the test run busy for hours, and says nothing about speed. */
const endAfterMs = 60_000

/**
 * Fails if synchronous work does not end. Choose input with which the right code needs far less than a second, and code that
 * needs more steps, such as the square of its length, an hour.
 */
export function expectToEnd<T>(work: () => T): T {
  worldOfScripts.plenumTestWork = work
  try {
    return call.runInThisContext({ timeout: endAfterMs }) as T
  } finally {
    worldOfScripts.plenumTestWork = undefined
  }
}
