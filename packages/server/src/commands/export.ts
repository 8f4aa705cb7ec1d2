import type { Command } from 'commander'

export interface ExportOptions {
  workspace: string
  to: string
}

export function addExport(program: Command): void {
  program
    .command('export')
    .description('write a workspace to a file of JSON lines, also while servers run')
    .requiredOption('--workspace <id>', 'the workspace')
    .requiredOption('--to <file>', 'the new file; with the ending .gz, it is compressed')
    .addHelpText(
      'after',
      `
The file has the data of all API keys of the workspace, but no secrets of services and endpoints.
Everyone who can read it can read the documents and comments of the workspace.`,
    )
    .action(async (options: ExportOptions) => {
      const { exportWorkspace } = await import('./transfers/export-workspace.ts')
      await exportWorkspace(options)
    })
}
