import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { newFolder } from '../support/data/folders.ts'
import { runCommand } from '../support/processes/process.ts'

const options = {
  start: [],
  doctor: [],
  token: ['--user', '--kind', '--hours'],
  backup: ['--to', '--with-secret'],
  restore: ['--from', '--with-secret'],
  'rotate-secret': ['--new-secret', '--yes'],
  copy: ['--from', '--to'],
  export: ['--workspace', '--to'],
  import: ['--from'],
}
const commands = Object.keys(options)

test('[D1.1] the help lists the commands and the exit codes', async () => {
  const { code, stdout } = await runCommand(['--help'], {})
  expect(code).toBe(0)
  for (const command of commands) expect(stdout).toMatch(new RegExp(`^  ${command}\\b`, 'm'))
  expect(stdout).toContain('Exit codes: 0 success, 1 failure, 2 wrong usage.')
})

test.each(Object.entries(options))('[D1.1] the help of %s describes its options', async (command, names) => {
  const { code, stdout, stderr } = await runCommand(['help', command], {})
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout).toContain(`Usage: plenum ${command}`)
  for (const name of names) expect(stdout).toMatch(new RegExp(`^  ${name}\\b.* {2,}\\S`, 'm'))
})

test.each([
  [['strat'], "unknown command 'strat'"],
  [['token', '--hours', '49'], 'at most 48'],
  [['token', '--kind', 'root'], 'Allowed choices are user, backend, workspace.'],
  [['token', '--document', 'plan'], '--document needs --organization'],
  [['start', 'now'], 'too many arguments'],
  [['--unknown'], "unknown option '--unknown'"],
])('[D1.1] wrong usage exits with 2 and one reason: %j', async (words, reason) => {
  const { code, stdout, stderr } = await runCommand(words, {})
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  expect(stderr).toContain(reason)
  expect(stderr).not.toContain('    at ')
})

test('[D1.1] a path that cannot be used is named, with the reason', async () => {
  const cwd = newFolder()
  writeFileSync(join(cwd, 'file'), '')
  const { code, stderr } = await runCommand(['backup', '--to', 'file/backup.db'], {}, { cwd })
  expect(code).toBe(1)
  expect(stderr).toMatch(
    /^plenum backup: .*file\/backup\.db cannot be used: a part of the path is a file, not a folder\.\n$/,
  )
})

test('[D1] [D1.1] a command reads .env, and reports wrong settings as the server does', async () => {
  const cwd = newFolder()
  writeFileSync(join(cwd, '.env'), 'PORT=99999\nDATA_DRI=x\n')
  expect(await runCommand(['token'], {}, { cwd })).toEqual({
    code: 1,
    stdout: '',
    stderr:
      'plenum token: PORT must be a whole number from 0 to 65535, but is "99999".\n' +
      'DATA_DRI in .env is not a setting. Did you mean DATA_DIR?\n',
  })
})
