import type { Command } from 'commander'

export interface ListOptions {
  json?: true
}

export function addList(program: Command): void {
  program
    .command('list')
    .description('print the workspaces and their API keys, also while servers run')
    .option('--json', 'one line of JSON for each workspace')
    .action(async (options: ListOptions) => {
      const { listWorkspaces } = await import('./list-workspaces.ts')
      await listWorkspaces(options)
    })
}
