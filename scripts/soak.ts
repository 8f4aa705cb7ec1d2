/**
 * Repeats the tests that are random or kill servers, each time with a new seed and more rounds than in `npm test`.
 *   npm run soak -- [--minutes 30] [--effort 5] [part of a test file's path]
 */
import { spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createWriteStream, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readOptions } from '../bench/options.ts'

const files = [
  'packages/server/test/faults/durability.long.test.ts',
  'packages/server/test/faults/lab.long.test.ts',
  'packages/server/test/faults/realtime-durability.long.test.ts',
  'packages/server/test/faults/killed-comments.test.ts',
  'packages/server/test/faults/killed-deliveries.long.test.ts',
  'packages/server/test/faults/killed-inbox.long.test.ts',
  'packages/server/test/rest/comments/anchors.test.ts',
  'packages/server/test/realtime/documents/resume.test.ts',
  'packages/server/test/realtime/editors/races.test.ts',
  'packages/server/test/realtime/editors/orders.test.ts',
  'packages/server/test/realtime/limits/fuzz.test.ts',
  'packages/server/src/crdt/updates/validate-update.fuzz.test.ts',
  'packages/server/src/crdt/updates/document-index.test.ts',
  'packages/server/src/crdt/content/restore.test.ts',
  'packages/server/src/crdt/content/content.test.ts',
  'packages/server/test/table/shapes.test.ts',
]

interface Results {
  runs: number
  tests: number
  failures: string[]
  ms: number
  counts: Map<string, number>
}

/** The part of the report of vitest's JSON reporter that is used here. */
interface Report {
  testResults: {
    assertionResults: { status: string; title: string; meta: { counts?: Record<string, number> } }[]
  }[]
}

const { values, positionals } = readOptions({
  allowPositionals: true,
  options: {
    minutes: { type: 'string', default: '30' },
    effort: { type: 'string', default: '5' },
  },
})
const minutes = positive('minutes', values.minutes)
const effort = positive('effort', values.effort)
const chosen = files.filter((file) => file.includes(positionals.join(' ')))
if (chosen.length === 0) {
  fail(`No file's path contains "${positionals.join(' ')}". The files are:\n  ${files.join('\n  ')}`)
}

const logs = mkdtempSync(join(tmpdir(), 'plenum-soak-'))
const results = new Map<string, Results>()
const startedAt = Date.now()
const isOver = () => Date.now() - startedAt >= minutes * 60_000
console.log(
  `${chosen.length} test files for ${minutes} minutes, with ${effort} times the rounds of npm test.`,
)
console.log(`The output of failed runs is kept in ${logs}.\n`)

let isInterrupted = false
process.once('SIGINT', () => (isInterrupted = true))
// Each file runs at least once, unless the run is interrupted.
for (let round = 1; round === 1 || !isOver(); round++) {
  for (const file of chosen) {
    if (isInterrupted || (round > 1 && isOver())) break
    await runOnce(file, round)
  }
  if (isInterrupted) break
}
printTable()
process.exitCode = [...results.values()].some(({ failures }) => failures.length > 0) ? 1 : 0

function positive(name: string, text: string): number {
  const value = Number(text)
  if (!(value > 0)) fail(`--${name} must be a number above 0, not "${text}".`)
  return value
}

function fail(message: string): never {
  console.error(message)
  process.exit(2)
}

async function runOnce(file: string, round: number): Promise<void> {
  const seed = randomInt(2 ** 31)
  const name = `${file.slice(file.lastIndexOf('/') + 1)}-${round}`
  const [reportPath, logPath] = [join(logs, `${name}.json`), join(logs, `${name}.log`)]
  const elapsed = Math.floor((Date.now() - startedAt) / 60_000)
  process.stdout.write(`minute ${elapsed} of ${minutes}: round ${round}, seed ${seed}: ${file} … `)
  const beganAt = Date.now()
  const child = spawn(
    process.execPath,
    [
      'node_modules/vitest/vitest.mjs',
      'run',
      file,
      '--reporter=default',
      '--reporter=json',
      `--outputFile.json=${reportPath}`,
    ],
    {
      env: { ...process.env, TEST_SEED: String(seed), TEST_EFFORT: String(effort) },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  )
  const log = createWriteStream(logPath)
  child.stdout.pipe(log, { end: false })
  child.stderr.pipe(log, { end: false })
  const [code] = (await once(child, 'exit')) as [number | null]
  log.end()
  if (isInterrupted) return
  const ms = Date.now() - beganAt
  const previous = results.get(file)
  const result = previous ?? { runs: 0, tests: 0, failures: [], ms: 0, counts: new Map<string, number>() }
  results.set(file, result)
  result.runs++
  result.ms += ms
  for (const { status, title, meta } of testsIn(reportPath)) {
    result.tests++
    if (status === 'failed') result.failures.push(`seed ${seed}: ${title} (${logPath})`)
    for (const [what, count] of Object.entries(meta.counts ?? {}))
      result.counts.set(what, (result.counts.get(what) ?? 0) + count)
  }
  if (code !== 0 && !result.failures.some((failure) => failure.endsWith(`(${logPath})`)))
    result.failures.push(`seed ${seed}: the run ended with code ${code} (${logPath})`)
  if (code === 0) for (const path of [reportPath, logPath]) rmSync(path, { force: true })
  console.log(`${code === 0 ? 'passed' : 'FAILED'} after ${Math.round(ms / 1000)} s`)
}

/** The tests of a run. None if the run ended before it wrote its report. */
function testsIn(reportPath: string): Report['testResults'][number]['assertionResults'] {
  try {
    const report = JSON.parse(readFileSync(reportPath, 'utf8')) as Report
    return report.testResults.flatMap(({ assertionResults }) => assertionResults)
  } catch {
    return []
  }
}

function printTable(): void {
  console.log('\n| test file | runs | tests | failed | minutes | counted |\n|---|---|---|---|---|---|')
  for (const [file, { runs, tests, failures, ms, counts }] of results) {
    const counted = [...counts].map(([what, count]) => `${count} ${what}`).join(', ')
    console.log(
      `| ${file} | ${runs} | ${tests} | ${failures.length} | ${(ms / 60_000).toFixed(1)} | ${counted} |`,
    )
  }
  for (const [file, { failures }] of results) {
    for (const failure of failures) console.log(`\n${file}\n  ${failure}`)
    if (failures.length > 0) console.log('  Repeat it with TEST_SEED=<seed> TEST_EFFORT=' + effort)
  }
}
