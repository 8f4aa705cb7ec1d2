import { AsyncLocalStorage } from 'node:async_hooks'
import pg from 'pg'
import { Limiter } from '../../../src/platform/turns/limiter.ts'

/**
 * The largest number of statements to PostgreSQL that one place of a limiter was held for during the run, by work of this
 * lane.
 */
export async function mostStatementsInPlace(lane: string, run: () => Promise<unknown>): Promise<number> {
  const place = new AsyncLocalStorage<{ statements: number }>()
  const { run: runLimited } = Limiter.prototype
  const query = Object.getOwnPropertyDescriptor(pg.Client.prototype, 'query') as PropertyDescriptor
  let most = 0
  Limiter.prototype.run = function <T>(
    this: Limiter,
    name: string,
    work: () => Promise<T>,
    subLane?: string,
  ) {
    const inPlace = () => (name === lane ? place.run({ statements: 0 }, work) : work())
    return runLimited.call(this, name, inPlace, subLane) as Promise<T>
  }
  pg.Client.prototype.query = function (this: pg.Client, ...args: unknown[]) {
    const held = place.getStore()
    if (held) most = Math.max(most, ++held.statements)
    return (query.value as (...args: unknown[]) => unknown).apply(this, args)
  } as typeof pg.Client.prototype.query
  try {
    await run()
    return most
  } finally {
    Limiter.prototype.run = runLimited
    Object.defineProperty(pg.Client.prototype, 'query', query)
  }
}
