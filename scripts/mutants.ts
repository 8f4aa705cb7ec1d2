import { chmodSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readOptions, showHelp } from '../bench/options.ts'
import { copyRepository } from './mutants/copy-repository.ts'
import { mutants } from './mutants/list.ts'
import type { Mutant } from './mutants/mutant.ts'
import { Tests } from './mutants/test-run.ts'

const help = `
npm run mutants -- [--list | --why] [part of a name, a rule or a file]
Makes one fault after the other in a copy of the working tree, and says whether the test of that fault notices it.
The faults are in scripts/mutants/. The exit code is 1 if a fault was not noticed.

  --list   shows the faults, and runs nothing
  --why    shows the first error of each test that notices a fault`

const { values, positionals } = readOptions({
  allowPositionals: true,
  options: {
    list: { type: 'boolean', default: false },
    why: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})
showHelp(values.help, help)
const part = positionals.join(' ')
const chosen = mutants.filter((one) => [one.name, one.rule, one.file].some((text) => text.includes(part)))
if (chosen.length === 0) fail(2, `No fault has "${part}" in its name, rule or file. See them with --list.`)
if (values.list) {
  for (const { rule, name, file } of chosen) console.log(`${rule.padEnd(7)} ${name}  (${file})`)
  process.exit()
}
for (const mutant of chosen) requireCurrent(mutant)

// A path without links: vitest reports the files under their real paths.
const folder = realpathSync(mkdtempSync(join(tmpdir(), 'plenum-mutants-')))
const copy = join(folder, 'source')
/** The temporary files of the tests, which a run that is interrupted leaves behind. */
const temporary = join(folder, 'tmp')
/** The output of the runs that did not notice a fault. This folder is kept. */
const logs = `${folder}-logs`
// PostgreSQL, which runs as another user if the tests run as root, has its files in it.
chmodSync(folder, 0o755)
for (const path of [copy, temporary]) mkdirSync(path)

const tests = new Tests(copy, temporary)
const isTerminal = process.stdout.isTTY
let isInterrupted = false
const interrupt = () => {
  isInterrupted = true
  tests.stop()
}
process.on('SIGINT', interrupt).on('SIGTERM', interrupt)

try {
  copyRepository('.', copy)
  const isPassing = await checkWithoutFault()
  const areNoticed = isPassing && (await tryAll())
  process.exitCode = isInterrupted ? 130 : areNoticed ? 0 : 1
} finally {
  // Processes of an interrupted run may still be removing their own files.
  rmSync(folder, { recursive: true, force: true, maxRetries: 20 })
}

function fail(code: number, message: string): never {
  console.error(message)
  process.exit(code)
}

/** Ends the program if the source has changed so that the fault cannot be made any more. */
function requireCurrent({ name, file, from }: Mutant): void {
  const count = readFileSync(file, 'utf8').split(from).length - 1
  if (count === 1) return
  const found = count === 0 ? 'does not occur' : `occurs ${count} times`
  fail(1, `The fault "${name}" is out of date: its text ${found} in ${file}:\n  ${from}`)
}

/** Shows what is being done, in a terminal only. The next line replaces it. */
function showProgress(text: string): void {
  if (isTerminal) process.stdout.write(`\r\x1b[K${text.slice(0, process.stdout.columns - 1)}`)
}

function print(line: string): void {
  console.log(isTerminal ? `\r\x1b[K${line}` : line)
}

/** A test that fails without a fault would seem to notice every fault. Returns whether all tests pass. */
async function checkWithoutFault(): Promise<boolean> {
  const files = [...new Set(chosen.map(({ test }) => test))]
  showProgress(`Running the tests of ${chosen.length} faults without a fault …`)
  const beganAt = Date.now()
  const titles = chosen.map(({ title }) => title)
  const { results, output } = await tests.run({ files, titles, endsWithFailure: false })
  if (isInterrupted) return false
  const problems = chosen.flatMap(({ name, test, title }) => {
    const own = results.filter((one) => one.file === test && one.title.includes(title))
    if (own.length > 0 && own.every(({ error }) => error === undefined)) return []
    return `The test for "${name}" ${own.length === 0 ? 'does not run' : 'fails'} without the fault: ${test} -t "${title}"`
  })
  for (const problem of problems) print(problem)
  if (problems.length > 0) print(`See ${keep('without-fault.log', output)}.`)
  else print(`All tests pass without a fault  (${secondsSince(beganAt)} s)`)
  return problems.length === 0
}

/** Returns whether all faults were noticed. */
async function tryAll(): Promise<boolean> {
  let noticed = 0
  for (const [index, mutant] of chosen.entries()) {
    const { rule, name } = mutant
    showProgress(`${index + 1} of ${chosen.length}: ${rule} ${name} …`)
    const beganAt = Date.now()
    const { results, output } = await runWith(mutant)
    if (isInterrupted) return false
    // If a test file cannot even be loaded, it has no results, and no test has noticed anything.
    const failed = results.find(({ error }) => error !== undefined)
    const isNoticed = failed !== undefined
    if (isNoticed) noticed++
    const word = isNoticed ? 'noticed    ' : 'NOT NOTICED'
    const time = `${secondsSince(beganAt)} s; ${index + 1} of ${chosen.length}`
    print(`${word}  ${rule.padEnd(7)} ${name}  (${time})`)
    if (failed && values.why) print(`  ${failed.error}`)
    if (!isNoticed) print(`  See ${keep(`${index + 1}.log`, output)}.`)
  }
  print(`${chosen.length} faults, ${noticed} noticed`)
  return noticed === chosen.length
}

async function runWith({ file, from, to, test, title }: Mutant) {
  const path = join(copy, file)
  const right = readFileSync(path, 'utf8')
  // A function, because `$` has a meaning in a text that replaces another.
  const faulty = right.replace(from, () => to)
  writeFileSync(path, faulty)
  try {
    return await tests.run({ files: [test], titles: [title], endsWithFailure: true })
  } finally {
    writeFileSync(path, right)
  }
}

/** Keeps the output of a run. Returns its path. */
function keep(name: string, output: string): string {
  mkdirSync(logs, { recursive: true })
  const path = join(logs, name)
  writeFileSync(path, output)
  return path
}

function secondsSince(time: number): string {
  return ((Date.now() - time) / 1000).toFixed(1)
}
