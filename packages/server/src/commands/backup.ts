import type { Command } from 'commander'

export interface BackupOptions {
  to: string
  withSecret?: true
}

export function addBackup(program: Command): void {
  program
    .command('backup')
    .description('copy the embedded database to a file, also while a server runs')
    .requiredOption('--to <path>', 'the new file, or a folder in which it gets a name with the time')
    .option('--with-secret', 'also copy secret.key; who has both can forge tokens and decrypt stored secrets')
    .action(async (options: BackupOptions) => {
      const { makeBackup } = await import('./backups/make-backup.ts')
      await makeBackup(options)
    })
}
