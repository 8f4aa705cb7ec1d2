import type pg from 'pg'
import { isTimeout, isUnavailable } from './failures.ts'
import { rowMakerOf, sendForArrays, sendNamed } from './named-statements.ts'

/** One statement answers at most this many reads. */
const maxReadsPerStatement = 64

interface Read {
  values: readonly unknown[]
  resolve: (rows: never[]) => void
  reject: (error: unknown) => void
}

/** The reads that wait to be sent as one statement. */
interface Queue {
  readonly sql: string
  waiting: Read[]
  /** Whether the waiting reads will be sent: soon, or after the answer to the statement that is under way. */
  isScheduled: boolean
}

/**
 * Small reads of PostgreSQL. A round trip costs more than the read, so reads that differ only in their values are sent as one
 * statement: those that arrive at the same time, and those that arrive while the statement before is under way.
 */
export class BatchedReads {
  readonly #client: () => pg.Client | Promise<pg.Client>
  readonly #isTransaction: boolean
  readonly #queues = new Map<string, Queue>()
  /** The queues whose reads are sent next, all in one write to the socket. */
  #due: Queue[] = []

  /** In a transaction, only reads that are sent without an `await` in between arrive at the same time. */
  constructor(client: () => pg.Client | Promise<pg.Client>, { isTransaction }: { isTransaction: boolean }) {
    this.#client = client
    this.#isTransaction = isTransaction
  }

  /** The statement is sent after this call. Outside a transaction it reads what is committed then, inside one its snapshot. */
  read<Row>(sql: string, values: readonly unknown[]): Promise<Row[]> {
    return new Promise((resolve, reject) => {
      let queue = this.#queues.get(sql)
      if (!queue) this.#queues.set(sql, (queue = { sql, waiting: [], isScheduled: false }))
      queue.waiting.push({ values, resolve, reject })
      if (!queue.isScheduled) this.#schedule(queue)
    })
  }

  #schedule(queue: Queue): void {
    queue.isScheduled = true
    this.#due.push(queue)
    if (this.#due.length > 1) return
    const send = () => void this.#sendDue()
    if (this.#isTransaction) queueMicrotask(send)
    else setImmediate(send)
  }

  async #sendDue(): Promise<void> {
    let client: pg.Client
    try {
      client = await this.#client()
    } catch (error) {
      for (const queue of this.#takeDue()) {
        queue.isScheduled = false
        for (const { reject } of queue.waiting.splice(0)) reject(error)
      }
      return
    }
    // A connection of a transaction takes one statement at a time.
    if (this.#isTransaction) return this.#sendInTurn(client)
    const { stream } = client.connection
    stream.cork()
    for (const queue of this.#takeDue()) void this.#send(client, queue)
    stream.uncork()
  }

  async #sendInTurn(client: pg.Client): Promise<void> {
    for (const queue of this.#takeDue()) await this.#send(client, queue)
  }

  #takeDue(): readonly Queue[] {
    const due = this.#due
    this.#due = []
    return due
  }

  async #send(client: pg.Client, queue: Queue): Promise<void> {
    const reads = queue.waiting.splice(0, maxReadsPerStatement)
    try {
      await this.#answer(client, queue.sql, reads)
    } catch (error) {
      // After a timeout, the waiting reads of this query fail too: they would wait as long again. A timeout also means that
      // PostgreSQL cancelled the statement.
      const failed = isTimeout(error) ? reads.concat(queue.waiting.splice(0)) : reads
      for (const { reject } of failed) reject(error)
    }
    queue.isScheduled = false
    if (queue.waiting.length > 0) this.#schedule(queue)
  }

  async #answer(client: pg.Client, sql: string, reads: readonly Read[]): Promise<void> {
    const [first] = reads as [Read]
    if (reads.length === 1) return first.resolve(await sendNamed<never>(client, sql, [...first.values]))
    const columns = first.values.map((_, column) => reads.map(({ values }) => values[column]))
    try {
      const { fields, rows } = await sendForArrays(client, sqlForMany(sql, first.values), columns)
      const toRow = rowMakerOf(sql, fields.slice(0, -1))
      const answers = reads.map((): never[] => [])
      for (const row of rows) answers[(row.at(-1) as number) - 1]?.push(toRow(row) as never)
      for (const [index, { resolve }] of reads.entries()) resolve(answers[index] as never[])
    } catch (error) {
      // A value that PostgreSQL refuses must fail its own read only. But a transaction has failed with its first error.
      if (this.#isTransaction || isUnavailable(error) || isTimeout(error)) throw error
      const alone = reads.map((read) => this.#answer(client, sql, [read]).catch(read.reject))
      await Promise.all(alone)
    }
  }
}

const manySql = new Map<string, string>()

/** The statement that runs `sql` once for each element of its parameters, which are arrays. */
function sqlForMany(sql: string, values: readonly unknown[]): string {
  let many = manySql.get(sql)
  if (many === undefined) {
    const arrays = values.map(
      (value, index) => `$${index + 1}::${typeof value === 'number' ? 'bigint' : 'text'}[]`,
    )
    const columns = values.map((_, index) => `p${index + 1}`)
    const one = sql.replaceAll(/\$(\d+)/g, 'reads.p$1')
    many = `select one.*, reads.read from unnest(${arrays.join(', ')}) with ordinality as reads(${columns.join(', ')}, read) cross join lateral (${one}) as one`
    manySql.set(sql, many)
  }
  return many
}
