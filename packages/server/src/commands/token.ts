import { type Command, InvalidArgumentError, Option } from 'commander'

export interface TokenOptions {
  kind: 'user' | 'backend' | 'workspace'
  apiKey?: string
  user: string
  name?: string
  email?: string
  admin?: true
  organization?: string
  document?: string
  role: 'viewer' | 'editor'
  hours: number
  createWorkspace?: string
  ownerEmail: string
}

export function addToken(program: Command): void {
  program
    .command('token')
    .description('print a token of a user, a backend or a workspace')
    .addOption(
      new Option('--kind <kind>', 'of a user, of a backend (an API key), or of a workspace')
        .choices(['user', 'backend', 'workspace'])
        .default('user'),
    )
    .option('--api-key <id>', 'the API key; needed if there are several')
    .option('--user <id>', 'the user', 'tester')
    .option('--name <name>', 'how the user is shown')
    .option('--email <address>', 'the email address of the user')
    .option('--admin', 'the user is an admin')
    .option('--organization <id>', 'give access to this organization')
    .option('--document <id>', 'give access to this document of the organization only')
    .addOption(
      new Option('--role <role>', 'what the user may do there')
        .choices(['viewer', 'editor'])
        .default('editor'),
    )
    .option('--hours <number>', 'how long the token of a user is valid, at most 48', toHours, 48)
    .option('--create-workspace <name>', 'create a workspace with an API key first')
    .option('--owner-email <address>', 'the owner of the new workspace', 'owner@example.invalid')
    .addHelpText(
      'after',
      `
The token is printed to standard output, everything else to standard error. A server may be running.

  USER_TOKEN=$(plenum token --user ada --organization acme)`,
    )
    .action(async (options: TokenOptions) => {
      const { printToken } = await import('./print-token.ts')
      await printToken(options)
    })
}

function toHours(text: string): number {
  const hours = Number(text)
  if (!(hours > 0 && hours <= 48)) throw new InvalidArgumentError('It must be a number above 0, at most 48.')
  return hours
}
