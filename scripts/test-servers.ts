// Runs the tests of live clients with two servers on one PostgreSQL database, on each link between them.
// Further arguments go to vitest: `npm run test:servers -- presence`.
import { spawnSync } from 'node:child_process'
import { linksThatConnect } from '../packages/server/test/support/servers/links.ts'

const [, , ...only] = process.argv
const filters = only.length > 0 ? only : ['packages/server/test/realtime']
const failed = linksThatConnect.filter((link) => {
  console.log(`\nTwo servers, link: ${link}`)
  const env = { ...process.env, TEST_LINK: link }
  return (
    spawnSync('npx', ['vitest', 'run', '--project', '!long', ...filters], { env, stdio: 'inherit' })
      .status !== 0
  )
})
console.log(failed.length === 0 ? '\nAll passed on every link.' : `\nFailed on: ${failed.join(', ')}`)
process.exitCode = failed.length === 0 ? 0 : 1
