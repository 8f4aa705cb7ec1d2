/** Lists the rules of docs/spec.md that no test cites. A title cites a rule by its number in brackets: `[4.7] …`. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The sections of the interface that describe an operation. */
const sections = Array.from({ length: 18 }, (_, index) => `4.${index + 1}`)

/** A row of a table whose first cell is the number of a rule. */
const rulePattern = /^\|\s*(\d+(?:\.\d+)*|[A-Z]\d+)\s*\|/gm
const titlePattern = /(['"`])(\[(?:\d+(?:\.\d+)*|[A-Z]\d+)\] (?:(?!\1).)*)\1/g
const citationPattern = /\[(\d+(?:\.\d+)*|[A-Z]\d+)\]/g

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

const problems = [
  ...sections.filter((rule) => !rules.includes(rule)).map((rule) => `${rule} is missing in docs/spec.md`),
  ...rules
    .filter((rule, index) => rules.indexOf(rule) !== index)
    .map((rule) => `${rule} stands twice in docs/spec.md`),
  ...rules.filter((rule) => !cited.has(rule)).map((rule) => `${rule} has no test`),
  ...[...cited]
    .filter((rule) => !rules.includes(rule))
    .map((rule) => `${rule} is cited by a test but is not in docs/spec.md`),
]
for (const problem of problems) console.error(problem)
if (problems.length > 0) process.exit(1)
console.log(`Each of the ${rules.length} rules has a test.`)
