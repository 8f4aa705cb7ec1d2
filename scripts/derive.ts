/** Writes what follows from the table of operations. `--check` only tells whether it is up to date. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { deriveClientRoutes } from './derive/client-routes.ts'

const files: Record<string, string> = {
  'packages/client/src/routes.ts': deriveClientRoutes(),
}

const check = process.argv.includes('--check')
const stale = Object.entries(files).filter(
  ([file, text]) => !existsSync(file) || readFileSync(file, 'utf8') !== text,
)
if (check && stale.length > 0) {
  console.error(`Not up to date: ${stale.map(([file]) => file).join(', ')}. Run "npm run derive".`)
  process.exit(1)
}
for (const [file, text] of check ? [] : stale) {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
  console.log(`wrote ${file}`)
}
if (stale.length === 0) console.log('Everything derived is up to date.')
