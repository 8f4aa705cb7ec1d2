import type { Command } from 'commander'

export interface ImportOptions {
  from: string
}

export function addImport(program: Command): void {
  program
    .command('import')
    .description('add the workspace of an export to the database, also while servers run')
    .requiredOption('--from <file>', 'the file that export has written')
    .addHelpText(
      'after',
      `
An import that was interrupted is continued by running the command again with the same file.`,
    )
    .action(async (options: ImportOptions) => {
      const { importWorkspace } = await import('./transfers/import-workspace.ts')
      await importWorkspace(options)
    })
}
