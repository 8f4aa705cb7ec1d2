import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import type { Link } from './cluster.ts'
import { promised, type Result } from './fault.ts'

/** The sum of trials. */
export interface Sum {
  trials: number
  acknowledged: number
  lost: number
  duplicated: number
  convergeMs: number[]
  revokeMs: number[]
  /** What was not as promised, and in how many trials. */
  problems: Record<string, number>
  seconds: number
}

/** All trials of one fault with one link, and of its control. */
export interface Group {
  fault: string
  title: string
  link: Link
  /** Why the fault could not be made. */
  missing?: string
  real: Sum
  controlName: string
  control: Sum
}

export const emptySum = (): Sum => ({
  trials: 0,
  acknowledged: 0,
  lost: 0,
  duplicated: 0,
  convergeMs: [],
  revokeMs: [],
  problems: {},
  seconds: 0,
})

export function add(sum: Sum, result: Result, seconds: number): void {
  sum.trials++
  sum.acknowledged += result.acknowledged
  sum.lost += result.lost
  sum.duplicated += result.duplicated
  sum.seconds += seconds
  const { convergeMs, revokeMs, problems } = result
  if (convergeMs !== undefined) sum.convergeMs.push(Math.round(convergeMs))
  if (revokeMs !== undefined) sum.revokeMs.push(Math.round(revokeMs))
  for (const problem of problems) sum.problems[problem] = (sum.problems[problem] ?? 0) + 1
}

export const isBroken = ({ lost, duplicated, problems }: Sum): boolean =>
  lost > 0 || duplicated > 0 || Object.keys(problems).length > 0

/** Whether a time was longer than promised. */
export const isLate = ({ convergeMs, revokeMs }: Sum): boolean =>
  convergeMs.some((ms) => ms > promised.convergeMs) || revokeMs.some((ms) => ms > promised.revokeMs)

/** The results of a run, in a file from which an interrupted run goes on. */
export class Results {
  readonly #file: string | undefined
  readonly groups: Group[] = []

  constructor(file: string | undefined) {
    this.#file = file
    if (file !== undefined && existsSync(file))
      this.groups = JSON.parse(readFileSync(file, 'utf8')) as Group[]
  }

  /** The group of a fault and a link, with the trials of an earlier run. */
  group(description: Pick<Group, 'fault' | 'title' | 'link' | 'controlName'>): Group {
    const { fault, link } = description
    const known = this.groups.find((one) => one.fault === fault && one.link === link)
    if (known) {
      // Trials of another control say nothing about this one.
      if (known.controlName !== description.controlName) known.control = emptySum()
      delete known.missing
      return Object.assign(known, description)
    }
    const group = { ...description, real: emptySum(), control: emptySum() }
    this.groups.push(group)
    return group
  }

  save(): void {
    if (this.#file === undefined) return
    // A run that is interrupted here leaves the old file or the new one.
    writeFileSync(`${this.#file}.new`, `${JSON.stringify(this.groups, undefined, 1)}\n`)
    renameSync(`${this.#file}.new`, this.#file)
  }
}
