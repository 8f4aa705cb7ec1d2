import type { Group, Sum } from './results.ts'

const headings = [
  'Fault',
  'Servers reach each other through',
  'Trials',
  'Acknowledged',
  'Lost',
  'Duplicated',
  'Seconds to converge',
  'Seconds to revoke',
  'Control',
]

const linkNames = { sqlite: '(one server, SQLite)', none: 'nothing', postgres: 'PostgreSQL', redis: 'Redis' }

/** The results as a table in Markdown, and below it what was not as promised. */
export function tableOf(groups: readonly Group[]): string {
  const rows = groups.map(({ fault, title, link, missing, real, controlName, control }) => [
    `${fault}: ${title}`,
    linkNames[link],
    ...(missing === undefined
      ? [String(real.trials), ...countsOf(real), timesOf(real.convergeMs), timesOf(real.revokeMs)]
      : [`not made: ${missing}`, '', '', '', '', '']),
    control.trials === 0 ? '' : `${controlName}: ${foundBy(control)}`,
  ])
  const total = groups.reduce(
    (sum, { real }) => ({
      trials: sum.trials + real.trials,
      acknowledged: sum.acknowledged + real.acknowledged,
      lost: sum.lost + real.lost,
      duplicated: sum.duplicated + real.duplicated,
    }),
    { trials: 0, acknowledged: 0, lost: 0, duplicated: 0 },
  )
  const last = ['**All**', '', String(total.trials), ...countsOf(total), '', '', '']
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  const table = [line(headings), `|${'---|'.repeat(headings.length)}`, ...[...rows, last].map(line)]
  return [...table, ...brokenPromises(groups)].join('\n')
}

const brokenPromises = (groups: readonly Group[]): string[] =>
  groups.flatMap(({ fault, link, real: { trials, problems } }) =>
    Object.entries(problems).map(
      ([problem, count]) => `\n${fault}, ${linkNames[link]}: in ${count} of ${trials} trials, ${problem}.`,
    ),
  )

const countsOf = ({ acknowledged, lost, duplicated }: Pick<Sum, 'acknowledged' | 'lost' | 'duplicated'>) =>
  [acknowledged, lost, duplicated].map(grouped)

export const grouped = (count: number): string => count.toLocaleString('en-US')

/** The median and the longest time. */
function timesOf(times: readonly number[]): string {
  if (times.length === 0) return ''
  const sorted = times.toSorted((a, b) => a - b)
  const seconds = (ms = 0) => (ms / 1000).toFixed(2)
  return `${seconds(sorted[Math.floor(sorted.length / 2)])}, at most ${seconds(sorted.at(-1))}`
}

/** What the lab has found in trials. */
export function foundBy({ acknowledged, lost, duplicated, problems }: Sum): string {
  if (lost > 0) return `${grouped(lost)} of ${grouped(acknowledged)} lost`
  if (duplicated > 0) return `${grouped(duplicated)} duplicated`
  return Object.keys(problems).join(', ') || 'nothing found'
}
