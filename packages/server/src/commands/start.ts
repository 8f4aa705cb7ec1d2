import type { Command } from 'commander'

export function addStart(program: Command): void {
  program
    .command('start')
    .description('start the server; the same as plenum without a command')
    .action(async () => {
      const { runServer } = await import('../run-server.ts')
      await runServer()
    })
}
