/**
 * Attacks a server of this repository as one tenant could, and shows how much another tenant is delayed.
 *   npm run attack -- [--short] [--sqlite | --postgres] [part of an attack's name]
 */
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { givenOrStarted } from '../packages/server/test/support/services/postgres.ts'
import { type Attack, promised } from './attack.ts'
import { attacks } from './attacks/index.ts'
import { type Measurement, startExperiment } from './measure.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { short: { type: 'boolean' }, sqlite: { type: 'boolean' }, postgres: { type: 'boolean' } },
})
const usesBothDatabases = values.sqlite === values.postgres
const [nothing, ...realAttacks] = attacks as [Attack, ...Attack[]]
const chosen = realAttacks.filter(({ name }) => name.includes(positionals.join(' ')))
if (chosen.length === 0) {
  const names = realAttacks.map(({ name }) => `  ${name}`).join('\n')
  throw new Error(`No attack's name contains "${positionals.join(' ')}". The attacks are:\n${names}`)
}
const postgres = usesBothDatabases || values.postgres ? await givenOrStarted() : undefined

/** Other programs on the machine may spoil a measurement, but a server that breaks a promise breaks it in every attempt. */
const maxAttempts = 3

const columns = ['read', 'list', 'write', 'document', 'edit', 'open'] as const
console.log(`read to open: the bystander's slowest request of each kind in ms. Promise: at most ${promised.delayMs} ms more than without an attack.
  In brackets: the same without the time in which the server or the bystander waited for one of the ${availableParallelism()} processors,
  which the attacker and other programs use as well.
loop: the longest time that the event loop was held, in ms of processor time. Promise: at most ${promised.loopMs} ms.
memory: how much the server's memory grew.\n`)
console.log(`| attack | database | ${columns.join(' | ')} | loop | memory | result |`)
console.log(`|---|---|${'---|'.repeat(columns.length + 3)}`)
let areAllPromisesHeld = true
for (const database of ['sqlite', 'postgres'] as const) {
  if (!usesBothDatabases && !values[database]) continue
  let baseline: Measurement | undefined
  for (const attack of [nothing, ...chosen]) {
    for (let attempt = 1; attempt <= maxAttempts; attempt++) {
      const databaseUrl = database === 'postgres' ? await postgres?.createDatabase() : undefined
      const size = values.short ? 'short' : 'full'
      // A new server for each attack: what one attack leaves behind must not count for the next.
      const experiment = await startExperiment(databaseUrl, attack.heapMegabytes)
      const measured = await experiment.run(attack, size)
      await experiment.stop()
      baseline ??= measured
      const result = resultOf(attack, measured, baseline)
      const delays = columns.map(
        (probe) => `${Math.round(measured.worstMs[probe])} (${Math.round(measured.worstWorkedMs[probe])})`,
      )
      const { loopMs, grownMegabytes } = measured
      const cells = [...delays, Math.round(loopMs), `+${Math.round(grownMegabytes)} MB`, result]
      console.log(`| ${attack.name} | ${database} | ${cells.join(' | ')} |`)
      if (result.startsWith('held')) break
      if (attempt === maxAttempts) areAllPromisesHeld = false
    }
  }
}
await postgres?.stop()
process.exitCode = areAllPromisesHeld ? 0 : 1

function resultOf({ maxMegabytes = Infinity }: Attack, measured: Measurement, baseline: Measurement): string {
  const { loopMs, grownMegabytes, failures } = measured
  if (failures.length > 0) return `${failures.length} requests failed, the first: ${failures[0]}`
  const isDelayed = (kind: 'worstMs' | 'worstWorkedMs') =>
    columns.some((probe) => measured[kind][probe] - baseline[kind][probe] > promised.delayMs)
  if (loopMs > promised.loopMs || grownMegabytes > maxMegabytes || isDelayed('worstWorkedMs')) return 'broken'
  return isDelayed('worstMs') ? 'held except for processor waits' : 'held'
}
