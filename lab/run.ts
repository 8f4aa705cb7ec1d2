import { knownValues, readOptions, showHelp, wholeNumbers } from '../bench/options.ts'
import { LabServices, type Link, links } from './cluster.ts'
import { Experiment } from './experiment.ts'
import type { Fault, Result } from './fault.ts'
import { faults } from './faults/index.ts'
import { add, type Group, isBroken, isLate, Results } from './results.ts'
import { foundBy, grouped, tableOf } from './table.ts'

const help = `
npm run lab -- [options]
Makes faults while clients write, and compares what the clients were told with what is stored.

  --faults F2,F7          only these faults (default: all)
  --link postgres,redis   how servers reach each other: sqlite (one server), postgres, redis, none
                          (default: sqlite,postgres,redis)
  --trials 10             trials of each fault (default: about 90 minutes in all)
  --short                 two trials of each fault, with few writes
  --writes 3000           about how many writes each trial has (default: 3000)
  --seed 1                makes other random decisions
  --json results.json     stores the results after each trial; run it again to go on after an interruption`

const { values } = readOptions({
  options: {
    faults: { type: 'string' },
    link: { type: 'string', default: 'sqlite,postgres,redis' },
    trials: { type: 'string' },
    writes: { type: 'string' },
    seed: { type: 'string', default: '1' },
    short: { type: 'boolean', default: false },
    json: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
})
showHelp(values.help, help)
const number = (name: 'trials' | 'writes' | 'seed', value: string) =>
  wholeNumbers(`--${name}`, value, 1, 2 ** 30)[0] as number
const chosen = knownValues(
  '--faults',
  values.faults,
  faults.map(({ id }) => id),
)
const chosenLinks = knownValues('--link', values.link, links)
const seed = number('seed', values.seed)
const writes = number('writes', values.writes ?? (values.short ? '300' : '3000'))
const trialsOf = (fault: Fault) =>
  values.trials === undefined ? (values.short ? 2 : fault.trials) : number('trials', values.trials)
/** A control that shows no fault in this many trials is reported as not found. */
const maxControlTrials = 5

/** Short trials are not shown one by one. */
const progressMs = 2_000
let shownAt = 0

// Clients that cannot connect would warn on the console.
process.env.NODE_ENV = 'production'
const results = new Results(values.json)
const plan = faults
  .filter(({ id }) => chosen.includes(id))
  .flatMap((fault) =>
    fault.links
      .filter((link) => chosenLinks.includes(link))
      .map((link) => ({ fault, link, group: groupOf(fault, link) })),
  )
const services = new LabServices()
let isInterrupted = false
process.once('SIGINT', () => {
  isInterrupted = true
  console.log('\nInterrupted: the lab stops after this trial.')
})
console.log(`Seed ${seed}, about ${grouped(writes)} writes in each trial.`)
try {
  for (const { fault, link, group } of plan) {
    if (isInterrupted) break
    await runGroup(fault, link, group)
  }
} finally {
  await services.stop()
}
const made = plan.map(({ group }) => group)
console.log(`\n${tableOf(made)}`)
process.exitCode = plan.every(isAsPromised) && !isInterrupted ? 0 : 1
process.exit()

function groupOf({ id, title, control }: Fault, link: Link): Group {
  return results.group({ fault: id, title, link, controlName: control.name })
}

async function runGroup(fault: Fault, link: Link, group: Group): Promise<void> {
  const missing = fault.missing?.()
  if (missing !== undefined) {
    group.missing = missing
    console.log(`${fault.id}: not made: ${missing}`)
    return
  }
  const isSeen = () => isShown(fault, group)
  const control = () => !isSeen() && group.control.trials < maxControlTrials
  await runTrials({ fault, link, group, isControl: true, isMore: control })
  console.log(`${fault.id} ${link}: the control, ${fault.control.name}: ${foundBy(group.control)}`)
  const isMore = () => group.real.trials < trialsOf(fault)
  await runTrials({ fault, link, group, isControl: false, isMore })
}

interface Trials {
  fault: Fault
  link: Link
  group: Group
  isControl: boolean
  isMore: () => boolean
}

/** Runs trials on one cluster. A trial that fails gets the next ones a new cluster. */
async function runTrials({ fault, link, group, isControl, isMore }: Trials): Promise<void> {
  const sum = isControl ? group.control : group.real
  let experiment: Experiment | undefined
  while (isMore() && !isInterrupted) {
    const beganAt = performance.now()
    let result: Result
    try {
      experiment ??= await Experiment.start({
        services,
        fault,
        link,
        isControl,
        seed,
        writes,
        isShort: values.short,
      })
      result = await experiment.run(sum.trials)
    } catch (error) {
      // Ctrl-C in a terminal also reaches the servers and the writers.
      if (isInterrupted) break
      // Broken servers may fail in any way, so only what the oracle finds counts in a control.
      const failure = `a trial failed: ${String(error)}`
      const problems = isControl ? [] : [failure]
      if (isControl) console.log(`${fault.id} ${link}: in the control, ${failure}`)
      result = { acknowledged: 0, lost: 0, duplicated: 0, problems }
      await experiment?.stop()
      experiment = undefined
    }
    add(sum, result, (performance.now() - beganAt) / 1000)
    results.save()
    const isTelling = isBroken(sum) || performance.now() - shownAt > progressMs
    if (!isControl && isTelling) showProgress(fault, link, group, result)
  }
  await experiment?.stop()
}

function showProgress(
  fault: Fault,
  link: Link,
  { real }: Group,
  { acknowledged, lost, problems }: Result,
): void {
  const all = results.groups.reduce((sum, group) => sum + group.real.acknowledged, 0)
  const minutes = Math.ceil(secondsLeft() / 60)
  const found = [`${grouped(acknowledged)} acknowledged`, `${grouped(lost)} lost`, ...problems]
  const what = `${fault.id} ${link} ${real.trials}/${trialsOf(fault)}: ${found.join(', ')}`
  shownAt = performance.now()
  console.log(`${what} (${grouped(all)} acknowledged so far; about ${minutes} min left)`)
}

function secondsLeft(): number {
  return plan.reduce((seconds, { fault, group: { real, missing } }) => {
    if (missing !== undefined) return seconds
    const each = real.trials > 0 ? real.seconds / real.trials : fault.seconds
    return seconds + each * Math.max(0, trialsOf(fault) - real.trials)
  }, 0)
}

/** Whether the lab has found what is broken in the control. */
function isShown({ control: { shows = 'lost' } }: Fault, { control }: Group): boolean {
  return shows === 'lost' ? control.lost > 0 : Object.keys(control.problems).length > 0
}

function isAsPromised({ fault, group }: (typeof plan)[number]): boolean {
  const { missing, real } = group
  return missing !== undefined || (!isBroken(real) && !isLate(real) && isShown(fault, group))
}
