import pg from 'pg'
import { type Clock, systemClock } from '../../platform/clock.ts'
import { DatabaseTimeoutError } from './failures.ts'

/**
 * A connection with a timeout for a database that does not answer, for example because its machine froze. The statement may
 * still be executed, so the connection is not used again. PostgreSQL's own `statement_timeout` needs a running server, and
 * the driver's `query_timeout` leaves the connection in the pool.
 */
export const clientWithTimeout = (timeoutMs: number, clock: Clock = systemClock) =>
  class ClientWithTimeout extends pg.Client {
    #timeout: DatabaseTimeoutError | undefined

    // The driver has several overloads. Callers of a pool use the one that returns a promise.
    override query(...args: never[]): never {
      if (this.#timeout) return Promise.reject(this.#timeout) as never
      const answer: unknown = super.query(...(args as [never]))
      return (answer instanceof Promise ? this.#withTimeout(answer) : answer) as never
    }

    #withTimeout<T>(answer: Promise<T>): Promise<T> {
      return new Promise((resolve, reject) => {
        const stopTimer = clock.setTimeout(() => {
          this.#timeout = new DatabaseTimeoutError(`PostgreSQL did not answer within ${timeoutMs} ms.`)
          reject(this.#timeout)
          // The pool does not take back a client that ends. With `pipeline`, `end` would wait for the running statements.
          if (this.pipeline) this.connection.stream.destroy()
          else this.end().catch(() => {})
        }, timeoutMs)
        answer.then(resolve, reject).finally(stopTimer)
      })
    }
  }
