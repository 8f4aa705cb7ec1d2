import type { Command } from 'commander'

export interface RotateOptions {
  yes?: true
  newSecret?: string
  signOutUsers?: true
}

export function addRotateSecret(program: Command): void {
  program
    .command('rotate-secret')
    .description('replace SECRET_KEY and encrypt all stored secrets again; stop all servers first')
    .option(
      '--new-secret <file>',
      'the new secret; a file that does not exist is created. Needed if SECRET_KEY is set',
    )
    .option(
      '--sign-out-users',
      'also make all user tokens invalid; needed if someone may have read the database too',
    )
    .option('--yes', 'do it; without this option, the command only says what becomes invalid')
    .action(async (options: RotateOptions) => {
      const { rotateSecret } = await import('./rotation/rotate-secret.ts')
      await rotateSecret(options)
    })
}
