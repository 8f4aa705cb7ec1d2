import type { Command } from 'commander'

export interface CopyOptions {
  from?: string
  to?: string
}

export function addCopy(program: Command): void {
  program
    .command('copy')
    .description('copy the embedded database to PostgreSQL; stop the server first')
    .option('--from <folder>', 'the folder of the embedded database (default: DATA_DIR)')
    .option(
      '--to <url>',
      'an empty PostgreSQL database (default: DATABASE_URL, which keeps a password private)',
    )
    .addHelpText(
      'after',
      `
The copy is one transaction: it is complete, or the target is as before. Run again, the command only compares the two.
Afterwards, set DATABASE_URL for the servers, and SECRET_KEY to the content of secret.key in the folder.
If DATABASE_URL is set already, the command needs SECRET_KEY too.`,
    )
    .action(async (options: CopyOptions) => {
      const { copyDatabase } = await import('./transfers/copy-database.ts')
      await copyDatabase(options)
    })
}
