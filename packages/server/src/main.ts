#!/usr/bin/env node
import { Command, CommanderError } from 'commander'
import { addBackup } from './commands/backup.ts'
import { addCopy } from './commands/copy.ts'
import { addDoctor } from './commands/doctor.ts'
import { addExport } from './commands/export.ts'
import { exitCodes, reasonFor, UsageError } from './commands/failure.ts'
import { addImport } from './commands/import.ts'
import { addList } from './commands/list.ts'
import { addRestore } from './commands/restore.ts'
import { addRotateSecret } from './commands/rotate-secret.ts'
import { addStart } from './commands/start.ts'
import { addToken } from './commands/token.ts'
import { version } from './start/version.ts'

const program = new Command('plenum')
  .description('A collaboration backend you host yourself.')
  .version(version)
  .exitOverride()
  .showHelpAfterError(
    'Run plenum help for the commands, and plenum help <command> for the options of a command.',
  )
  .addHelpText(
    'after',
    `
Settings come from the environment and the file .env in the current folder.
Exit codes: ${exitCodes.success} success, ${exitCodes.failure} failure, ${exitCodes.wrongUsage} wrong usage.`,
  )
addStart(program)
addDoctor(program)
addToken(program)
addList(program)
addBackup(program)
addRestore(program)
addRotateSecret(program)
addCopy(program)
addExport(program)
addImport(program)

// The program that reads the output may end before this one, as head does.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
  process.exit(exitCodes.success)
})

let running = ''
program.hook('preAction', (_, command) => void (running = command.name()))
try {
  const words = process.argv.slice(2)
  await program.parseAsync(words.length === 0 ? ['start'] : words, { from: 'user' })
} catch (error) {
  // The parser has printed its own errors. The exit code of the help is 0.
  if (error instanceof CommanderError) process.exit(error.exitCode === 0 ? 0 : exitCodes.wrongUsage)
  console.error(`plenum ${running}:`, reasonFor(error))
  process.exit(error instanceof UsageError ? exitCodes.wrongUsage : exitCodes.failure)
}
