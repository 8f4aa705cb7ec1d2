/**
 * Attacks a server of this repository the way one tenant could, and shows what another tenant feels of it.
 *   npm run attack -- [--short] [--sqlite | --postgres] [words of an attack's name]
 */
import { execFileSync } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { postgresForTests } from '../packages/server/test/support/services.ts'
import { type Attack, promised } from './attack.ts'
import { attacks } from './attacks/index.ts'
import { measure, type Measured } from './measure.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { short: { type: 'boolean' }, sqlite: { type: 'boolean' }, postgres: { type: 'boolean' } },
})
const isAll = values.sqlite === values.postgres
const [nothing, ...real] = attacks as [Attack, ...Attack[]]
const chosen = real.filter(({ name }) => name.includes(positionals.join(' ')))
if (chosen.length === 0) throw new Error(`No attack is called "${positionals.join(' ')}".`)
const root = fileURLToPath(new URL('..', import.meta.url))
execFileSync(process.execPath, ['scripts/build.mjs', '--server'], { cwd: root, stdio: 'inherit' })
const postgres = isAll || values.postgres ? await postgresForTests() : undefined

/** Other programs on the machine may spoil an attempt. A server that does not hold its promise fails all of them. */
const maxAttempts = 3

const columns = ['read', 'write', 'document', 'edit', 'open'] as const
console.log(`A bystander's worst milliseconds of each kind (promised: at most ${promised.delayMs} more than without an attack); in brackets
without the time in which the server or the bystander waited for one of the ${availableParallelism()} processors, which the attacker and other
programs use as well. Then the longest piece of work of the event loop in milliseconds of processor time (promised: ${promised.loopMs}),
and how much memory the server grew by.\n`)
console.log(`| attack | database | ${columns.join(' | ')} | loop | memory | |`)
console.log(`|---|---|${'---|'.repeat(columns.length + 3)}`)
let isHeld = true
for (const database of ['sqlite', 'postgres'] as const) {
  if (!isAll && !values[database]) continue
  let idle: Measured | undefined
  for (const attack of [nothing, ...chosen]) {
    for (let attempt = 1; attempt <= maxAttempts; attempt++) {
      const databaseUrl = database === 'postgres' ? await postgres?.createDatabase() : undefined
      const size = values.short ? 'short' : 'full'
      const measured = await measure(attack, { main: '../packages/server/dist/main.js', databaseUrl, size })
      idle ??= measured
      const verdict = verdictOf(attack, measured, idle)
      const delays = columns.map(
        (probe) => `${Math.round(measured.worstMs[probe])} (${Math.round(measured.worstWorkedMs[probe])})`,
      )
      const { loopMs, grownMegabytes } = measured
      const cells = [...delays, Math.round(loopMs), `+${Math.round(grownMegabytes)} MB`, verdict]
      console.log(`| ${attack.name} | ${database} | ${cells.join(' | ')} |`)
      if (verdict.startsWith('held')) break
      if (attempt === maxAttempts) isHeld = false
    }
  }
}
await postgres?.stop()
process.exitCode = isHeld ? 0 : 1

function verdictOf({ maxMegabytes = Infinity }: Attack, measured: Measured, idle: Measured): string {
  const { loopMs, grownMegabytes, failures } = measured
  if (failures.length > 0) return `${failures.length} failed, first ${failures[0]}`
  const isDelayed = (kind: 'worstMs' | 'worstWorkedMs') =>
    columns.some((probe) => measured[kind][probe] - idle[kind][probe] > promised.delayMs)
  if (loopMs > promised.loopMs || grownMegabytes > maxMegabytes || isDelayed('worstWorkedMs')) return 'broken'
  return isDelayed('worstMs') ? 'held but for the processors' : 'held'
}
