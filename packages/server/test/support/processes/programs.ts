import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { buildOnce } from '../../../../../scripts/build-once.mjs'
import { buildServer, hashOfServer } from '../../../../../scripts/build-server.mjs'

/** The program that `npm start` runs, the same with a fast clock, and servers that are broken for further. */
const files = {
  server: 'main.js',
  earlyAnswers: 'early-answers.js',
  fastServer: 'fast-server.js',
  changedServer: 'changed-server.js',
}
export type Program = keyof typeof files

const ownFolder = 'packages/server/test/support/processes'
const further = [
  `${ownFolder}/early-answers.ts`,
  `${ownFolder}/fast-server.ts`,
  'lab/programs/changed-server.ts',
]

async function build(into: string): Promise<void> {
  await buildServer(into, further)
  // Without it, Node reads each file twice to find out its kind.
  writeFileSync(join(into, 'package.json'), '{ "type": "module" }')
}

let folder: Promise<string> | undefined

/** Returns the file of a program. The first call builds all programs, unless a process has done so from the same sources. */
export async function programFile(program: Program): Promise<string> {
  folder ??= buildOnce('programs', hashOfServer(further), build)
  return join(await folder, files[program])
}
