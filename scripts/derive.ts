/** Writes what follows from the table of operations. `--check` only tells whether it is up to date. */
import { compare, derivedFiles, repair } from './derive/files.ts'

const files = derivedFiles()
const difference = compare('.', files)
const { stale, leftOver } = difference

if (stale.length + leftOver.length === 0) console.log('Everything derived is up to date.')
else if (process.argv.includes('--check')) {
  console.error(`Not up to date: ${[...stale, ...leftOver].join(', ')}. Run "npm run derive".`)
  process.exit(1)
} else {
  repair('.', files, difference)
  for (const file of stale) console.log(`wrote ${file}`)
  for (const file of leftOver) console.log(`removed ${file}`)
}
