import type { Command } from 'commander'

export interface RestoreOptions {
  from: string
  replace?: true
  withSecret?: true
}

export function addRestore(program: Command): void {
  program
    .command('restore')
    .description('put a backup in place as the embedded database; stop the server first')
    .requiredOption('--from <file>', 'the backup')
    .option('--replace', 'replace the present database, which is kept beside it under another name')
    .option('--with-secret', 'also put the secret in place that backup --with-secret has copied')
    .action(async (options: RestoreOptions) => {
      const { restoreBackup } = await import('./backups/restore-backup.ts')
      await restoreBackup(options)
    })
}
