/** Writes the files that are derived from the operation table. `--check` only reports whether they are up to date. */
import { compare, derivedFiles, repair } from './derive/files.ts'

const files = derivedFiles()
const difference = compare('.', files)
const { stale, leftOver } = difference

if (stale.length + leftOver.length === 0) console.log('All derived files are up to date.')
else if (process.argv.includes('--check')) {
  console.error(`These derived files are stale: ${[...stale, ...leftOver].join(', ')}. Run "npm run derive".`)
  process.exit(1)
} else {
  repair('.', files, difference)
  for (const file of stale) console.log(`wrote ${file}`)
  for (const file of leftOver) console.log(`removed ${file}`)
}
