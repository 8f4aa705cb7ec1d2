import { createClient } from '@plenum/client'
import { runCommand } from './process.ts'

/** Creates a workspace in the database of the settings. Returns its API key and a client of its backend. */
export async function newTenant(settings: Record<string, string>, url: string) {
  const created = await runCommand(['token', '--kind', 'backend', '--create-workspace', 'Test'], settings)
  const apiKey = /API key (\S+) /.exec(created.stderr)?.[1] ?? ''
  const authToken = created.stdout.trim()
  return { apiKey, authToken, client: createClient({ url, apiKey, authToken }) }
}
