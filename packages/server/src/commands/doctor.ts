import type { Command } from 'commander'

export function addDoctor(program: Command): void {
  program
    .command('doctor')
    .description('check the settings, the machine, the database and the services that the server uses')
    .option('--json', 'print the checks as JSON')
    .action(async ({ json }: { json?: true }) => {
      const { runChecks } = await import('./checks/run-checks.ts')
      const { exitCodes } = await import('./failure.ts')
      const isHealthy = await runChecks({ asJson: json ?? false })
      if (!isHealthy) process.exitCode = exitCodes.failure
    })
}
