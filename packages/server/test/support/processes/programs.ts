import { join } from 'node:path'
import { buildOnce } from '../../../../../scripts/build-once.mjs'
import { buildServer, hashOfServer } from '../../../../../scripts/build-server.mjs'

/** The program that `npm start` runs, and servers that are broken for controls. */
const files = { server: 'main.js', earlyAnswers: 'early-answers.js', changedServer: 'changed-server.js' }
export type Program = keyof typeof files

const controls = ['packages/server/test/support/processes/early-answers.ts', 'lab/programs/changed-server.ts']

let folder: Promise<string> | undefined

/** Returns the file of a program. The first call builds all programs, unless a process has done so from the same sources. */
export async function programFile(program: Program): Promise<string> {
  folder ??= buildOnce('programs', hashOfServer(controls), (into) => buildServer(into, controls))
  return join(await folder, files[program])
}
