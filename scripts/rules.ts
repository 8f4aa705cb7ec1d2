/**
 * Checks that a test cites every rule of docs/spec.md, and that every cited rule exists there once. A test cites a rule by
 * its number in brackets at the start of its title: `[4.7] …` or `[R8.1] …`. A title may cite several rules.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { operations } from '@plenum/protocol'

/** Sections of the interface that describe an operation. Each must be a rule in docs/spec.md. */
const sections = Array.from({ length: 18 }, (_, index) => `4.${index + 1}`)

/** A rule is a table row with its number in the first cell. */
const rulePattern = /^\|\s*(\d+(?:\.\d+)*|[A-Z]\d+(?:\.\d+)*)\s*\|/gm
const titlePattern = /(['"`])(\[(?:\d+(?:\.\d+)*|[A-Z]\d+(?:\.\d+)*)\] (?:(?!\1).)*)\1/g
const citationPattern = /\[(\d+(?:\.\d+)*|[A-Z]\d+(?:\.\d+)*)\]/g

const rules = [...readFileSync('docs/spec.md', 'utf8').matchAll(rulePattern)].map(([, rule = '']) => rule)
const tests = ['packages', 'examples'].flatMap((folder) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => /^(?!.*node_modules).*\.test\.ts$/.test(file))
    .map((file) => join(folder, file)),
)
const cited = new Set(tests.flatMap(citationsOf))

function citationsOf(file: string): string[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => !/\.(skip|todo)\(/.test(line))
    .flatMap((line) => [...line.matchAll(titlePattern)])
    .flatMap(([, , title = '']) =>
      [...(/^(?:\[[^\]]+\]\s*)+/.exec(title)?.[0] ?? '').matchAll(citationPattern)].map(
        ([, rule = '']) => rule,
      ),
    )
}

const declared = Object.entries(operations).flatMap(([family, verbs]) =>
  Object.entries(verbs).map(([verb, { spec }]) => ({ name: `${family}.${verb}`, spec })),
)

const problems = [
  ...declared
    .filter(({ spec }) => !rules.includes(spec))
    .map(({ name, spec }) => `The operation ${name} has spec ${spec}, which docs/spec.md does not have`),
  ...sections
    .filter((rule) => !rules.includes(rule))
    .map((rule) => `docs/spec.md has no rule ${rule}: add a table row for this operation of the interface`),
  ...rules
    .filter((rule, index) => rules.indexOf(rule) !== index)
    .map((rule) => `docs/spec.md has two rules ${rule}: give one of them another number`),
  ...rules
    .filter((rule) => !cited.has(rule))
    .map((rule) => `Rule ${rule} has no test: start the title of a test with [${rule}]`),
  ...[...cited]
    .filter((rule) => !rules.includes(rule))
    .map((rule) => `A test cites rule ${rule}, which docs/spec.md does not have`),
]
for (const problem of problems) console.error(problem)
if (problems.length > 0) process.exit(1)
console.log(`All ${rules.length} rules have a test.`)
