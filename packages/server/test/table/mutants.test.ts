import { existsSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { mutants } from '../../../../scripts/mutants/list.ts'

const count = (text: string, part: string) => text.split(part).length - 1

/** The titles in a test file, as they are written there: `%s` and `${name}` stand for values. */
const titlesIn = (file: string): string[] =>
  [...readFileSync(file, 'utf8').matchAll(/(['"`])(\[[A-Z\d][\d.]*\] (?:(?!\1).)*)\1/g)].map(
    ([, , title = '']) => title,
  )

test('[T2] the list has at least 40 faults, each with a name of its own and in a place of its own', () => {
  expect(mutants.length).toBeGreaterThanOrEqual(40)
  const places = mutants.map(({ file, from }) => `${file}\n${from}`)
  for (const values of [mutants.map(({ name }) => name), places])
    expect(values.filter((value, index) => values.indexOf(value) !== index)).toEqual([])
})

test('[T2] the text of each fault occurs once in its file, and the fault changes one line', () => {
  const outdated = mutants.filter(
    ({ file, from, to }) =>
      !existsSync(file) ||
      count(readFileSync(file, 'utf8'), from) !== 1 ||
      from === to ||
      /\n/.test(from + to),
  )
  expect(outdated.map(({ name, file, from }) => ({ name, file, from }))).toEqual([])
})

test('[T2] the test that notices a fault exists and cites the rule of the fault', () => {
  const withoutTest = mutants.filter(({ test: file, title, rule }) => {
    if (!existsSync(file)) return true
    const found = titlesIn(file).filter((one) => one.includes(title))
    return found.length === 0 || !found.every((one) => one.includes(`[${rule}]`))
  })
  expect(withoutTest.map(({ name, test: file, title, rule }) => ({ name, file, title, rule }))).toEqual([])
})
