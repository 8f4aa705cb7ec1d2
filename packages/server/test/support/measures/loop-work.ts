import pg from 'pg'
import { expect } from 'vitest'
import * as Y from 'yjs'
import { SqliteConnection } from '../../../src/store/engine/sqlite-driver.ts'

/** What the event loop of this process did in one iteration. It does not depend on how fast the machine is. */
export interface IterationWork {
  /** Statements that were run on SQLite, or sent to PostgreSQL. */
  statements: number
  /** Rows that statements returned, and on SQLite also rows that they changed. */
  rows: number
  /** Those of the rows that statements on SQLite changed. */
  changes: number
  /** Length of the texts and blobs in these rows, and of those that were passed to statements on SQLite. */
  rowBytes: number
  /** Length of the JSON that was parsed and serialized, without bodies of requests and answers of `fetch`. */
  jsonBytes: number
  /** Items of Yjs documents that were decoded. */
  items: number
  /** What the test counts with `countStep`, such as messages or clients. */
  steps: number
}

export interface LoopWork {
  /** In how many iterations of the event loop something was counted. */
  iterations: number
  /** The largest number of each kind in one iteration. */
  most: IterationWork
  /** The sums of all iterations. */
  total: IterationWork
  transactions: TransactionWork
}

/** Transactions that wrote, until they were committed. A transaction on SQLite may go on over several iterations. */
export interface TransactionWork {
  count: number
  /** The largest numbers in one transaction. Rows are those that its statements returned or changed, on both databases. */
  mostStatements: number
  mostRows: number
}

const nothing = (): IterationWork => ({
  statements: 0,
  rows: 0,
  changes: 0,
  rowBytes: 0,
  jsonBytes: 0,
  items: 0,
  steps: 0,
})
const kinds = Object.keys(nothing()) as (keyof IterationWork)[]

interface Counted {
  /** Each iteration in which something was counted. */
  iterations: IterationWork[]
  /** The iteration that runs now, once something was counted in it. */
  current: IterationWork | undefined
  transactions: TransactionWork
}

let counted: Counted | undefined

export const isCountingLoopWork = (): boolean => counted !== undefined

function count(kind: keyof IterationWork, amount: number): void {
  if (!counted || amount === 0) return
  if (!counted.current) {
    counted.current = nothing()
    counted.iterations.push(counted.current)
    setImmediate(endIteration)
  }
  counted.current[kind] += amount
}

/** Counts a step of the work that the test watches, in this iteration of the event loop. */
export const countStep = (): void => count('steps', 1)

function endIteration(): void {
  if (counted) counted.current = undefined
}

function sumOf({ iterations, transactions }: Counted): LoopWork {
  const work = { iterations: 0, most: nothing(), total: nothing(), transactions }
  for (const one of iterations) {
    if (kinds.some((kind) => one[kind] !== 0)) work.iterations++
    for (const kind of kinds) {
      work.most[kind] = Math.max(work.most[kind], one[kind])
      work.total[kind] += one[kind]
    }
  }
  return work
}

const sizeOf = (value: unknown): number =>
  typeof value === 'string' ? value.length : ArrayBuffer.isView(value) ? value.byteLength : 0
const sizeOfRow = (row: unknown): number =>
  (Array.isArray(row) ? row : Object.values(row ?? {})).reduce<number>((sum, value) => sum + sizeOf(value), 0)

function countRows(rows: readonly unknown[]): void {
  count('rows', rows.length)
  count(
    'rowBytes',
    rows.reduce<number>((sum, row) => sum + sizeOfRow(row), 0),
  )
}

/** The open transaction of each connection. */
let open = new Map<unknown, { statements: number; rows: number }>()

/** Counts a statement for the transaction of its connection. */
function countInTransaction(connection: unknown, statement: string, rows: number): void {
  if (!counted) return
  if (/^begin (immediate|isolation)/.test(statement)) open.set(connection, { statements: 0, rows: 0 })
  const transaction = open.get(connection)
  if (!transaction) return
  transaction.statements++
  transaction.rows += rows
  if (statement === 'rollback') open.delete(connection)
  if (statement !== 'commit') return
  open.delete(connection)
  const { transactions } = counted
  transactions.count++
  transactions.mostStatements = Math.max(transactions.mostStatements, transaction.statements)
  transactions.mostRows = Math.max(transactions.mostRows, transaction.rows)
}

/** Counts what PostgreSQL answers, before the code that waits for the answer can send the next statement. */
function countAnswer(connection: unknown, query: unknown, answer: unknown): void {
  const statement = typeof query === 'string' ? query : ((query as { text?: string }).text ?? '')
  if (!(answer instanceof Promise)) return
  const onAnswer = (found: { rowCount: number | null } | { rowCount: number | null }[]) => {
    const rows = [found].flat().reduce((sum, { rowCount }) => sum + (rowCount ?? 0), 0)
    countInTransaction(connection, statement, rows)
  }
  void answer.then(onAnswer, () => {})
}

/** Replaces a method until the returned function is called. `observe` gets the arguments and the result of each call. */
function watch(
  target: object,
  name: string,
  observe: (args: unknown[], result: unknown, self: unknown) => void,
): () => void {
  const object = target as Record<string, unknown>
  const descriptor = Object.getOwnPropertyDescriptor(object, name)
  const original = object[name] as (...args: unknown[]) => unknown
  Object.defineProperty(object, name, {
    configurable: true,
    writable: true,
    value: function watched(this: unknown, ...args: unknown[]) {
      const result = original.apply(this, args)
      observe(args, result, this)
      return result
    },
  })
  return () => {
    if (descriptor) Object.defineProperty(object, name, descriptor)
    else delete object[name]
  }
}

/** Shorter texts of clients are counted as if the server had serialized them. */
const shortText = 4096

const changesRows = /^\s*(insert|update|delete|with)\b/i

function watchAll(): () => void {
  /** What `fetch` has answered. The client parses it, not the server. */
  const answers = new Set<string>()
  /** The iterations in which long texts were serialized. */
  const serialized = new Map<string, IterationWork[]>()
  const onAnswer = (text: string) => void answers.add(text)
  const result = pg.Result.prototype as unknown as Record<string, unknown>
  const onRow = (_args: unknown[], row: unknown) => countRows([row])
  const ends = [
    watch(SqliteConnection.prototype, 'run', ([statement, values], result, connection) => {
      const { rows, changes: latest } = result as ReturnType<SqliteConnection['run']>
      // SQLite also returns the changes of the statement before, for example for a `begin`.
      const changes = changesRows.test(statement as string) ? latest : 0
      countInTransaction(connection, statement as string, rows.length + changes)
      count('statements', 1)
      count('rowBytes', sizeOfRow(values))
      countRows(rows)
      count('rows', changes)
      count('changes', changes)
    }),
    watch(pg.Client.prototype, 'query', ([query], answer, connection) => {
      count('statements', 1)
      countAnswer(connection, query, answer)
    }),
    watch(result, 'parseRow', onRow),
    watch(result, '_parseRowAsArray', onRow),
    watch(JSON, 'parse', ([text]) => {
      if (!answers.delete(String(text))) count('jsonBytes', String(text).length)
    }),
    watch(JSON, 'stringify', (_args, text) => {
      const isLong = sizeOf(text) > shortText
      // The client of this repository may have been created before, with the `fetch` of that time.
      if (isLong && /\/client\/src\//.test(new Error().stack ?? '')) return
      count('jsonBytes', sizeOf(text))
      if (!isLong || !counted?.current) return
      const iterations = serialized.get(text as string)
      if (iterations) iterations.push(counted.current)
      else serialized.set(text as string, [counted.current])
    }),
    // The test has serialized the body, in this iteration or in an earlier one.
    watch(globalThis, 'fetch', ([, init]) => {
      const body = (init as RequestInit | undefined)?.body
      const iteration = typeof body === 'string' && serialized.get(body)?.shift()
      if (iteration) iteration.jsonBytes -= sizeOf(body)
    }),
    watch(
      Response.prototype,
      'text',
      (_args, text) => void (text as Promise<string>).then(onAnswer, () => {}),
    ),
    watch(Y.UpdateDecoderV1.prototype, 'readInfo', () => count('items', 1)),
  ]
  return () => ends.forEach((end) => end())
}

/** How much later than the last reading each reading of the clock is, in milliseconds. Longer than any slice of work. */
const readingMs = 50

/** `performance.now`, which `countLoopWork` moves: the clocks of servers must not move with it. */
export const realElapsed = performance.now.bind(performance)
let aheadMs = 0

/**
 * What one iteration may do. The largest parts that the server does not divide come close to these numbers, and each takes
 * 5 to 25 ms on an idle machine: `npm run attack` measures that no iteration takes longer than 50 ms.
 */
const allowed: IterationWork = {
  statements: 3000,
  rows: 2500,
  changes: 2500,
  rowBytes: 1.5 * 1024 * 1024,
  jsonBytes: 1024 * 1024,
  items: 5000,
  // What a step is depends on the test, which sets the limit.
  steps: Infinity,
}

/**
 * Runs the work, and fails if one iteration of the event loop does more than S2 allows. Choose data that would exceed the
 * limits if it were not divided. `limits` replaces single limits, with the reason beside it.
 */
export async function expectShortIterations(
  run: () => Promise<unknown>,
  limits: Partial<IterationWork> = {},
): Promise<LoopWork> {
  const work = await countLoopWork(run)
  const most = { ...allowed, ...limits }
  const exceeded = kinds.filter((kind) => work.most[kind] > most[kind])
  const found = exceeded.map((kind) => `${work.most[kind]} ${kind} (allowed: ${most[kind]})`)
  expect(found, 'One iteration of the event loop does too much').toEqual([])
  return work
}

/**
 * Counts the work of each iteration of the event loop during the run. Every reading of `performance.now()` meanwhile says
 * that much time has passed, so work in slices gives way wherever it may: what is left in one iteration is what the code
 * never divides, on a fast machine and on a slow one. The clocks of servers go on as usual.
 */
export async function countLoopWork(run: () => Promise<unknown>): Promise<LoopWork> {
  if (counted) throw new Error('The work of the event loop is already being counted.')
  const transactions = { count: 0, mostStatements: 0, mostRows: 0 }
  const work: Counted = { iterations: [], current: undefined, transactions }
  const unwatch = watchAll()
  counted = work
  performance.now = () => realElapsed() + (aheadMs += readingMs)
  try {
    await run()
  } finally {
    counted = undefined
    open = new Map()
    unwatch()
    // It never goes back.
    performance.now = () => realElapsed() + aheadMs
  }
  return sumOf(work)
}
