import pg from 'pg'
import { SilentDatabase } from './failures.ts'

/**
 * A connection that gives up on a database that does not answer, such as one whose machine froze. The statement may still
 * be carried out, so the connection is not used again. PostgreSQL's own `statement_timeout` needs a server that runs, and
 * `query_timeout` of the driver leaves the connection in the pool.
 */
export const clientWithTimeout = (timeoutMs: number) =>
  class ClientWithTimeout extends pg.Client {
    #silence: SilentDatabase | undefined

    // The driver's overloads, of which callers of a pool use the one that gives a promise.
    override query(...args: never[]): never {
      if (this.#silence) return Promise.reject(this.#silence) as never
      const answer: unknown = super.query(...(args as [never]))
      return (answer instanceof Promise ? this.#bounded(answer) : answer) as never
    }

    #bounded<T>(answer: Promise<T>): Promise<T> {
      return new Promise((resolve, reject) => {
        const timer = setTimeout(() => {
          this.#silence = new SilentDatabase(`PostgreSQL did not answer within ${timeoutMs} ms.`)
          reject(this.#silence)
          // The pool does not take back a client that ends. While a statement is under way, it ends at once.
          this.end().catch(() => {})
        }, timeoutMs)
        answer.then(resolve, reject).finally(() => clearTimeout(timer))
      })
    }
  }
