import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { inject } from 'vitest'
import { MissingProgram } from './programs.ts'

/** What the tests of a run share: one service for all workers. */
export interface SharedService {
  /** Returns what workers need to know of it. It must be JSON. */
  start(): Promise<unknown>
  stop(): Promise<void>
}

type Answer = { known: unknown } | { missing: string } | { failed: string }

/** Starts each service when a test first asks for it. Returns the URL under which the workers ask. */
export async function serveServices(
  services: Record<string, SharedService>,
): Promise<{ url: string; stop(): Promise<void> }> {
  const answers = new Map<string, Promise<Answer>>()
  const answerFor = (name: string, service: SharedService) => {
    if (!answers.has(name)) answers.set(name, started(service))
    return answers.get(name) as Promise<Answer>
  }
  const server = createServer((request, response) => {
    const name = (request.url ?? '').slice(1)
    void answerFor(name, services[name] as SharedService).then((answer) =>
      response.end(JSON.stringify(answer)),
    )
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  // A run that is interrupted need not wait for it.
  server.unref()
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async stop() {
      server.close()
      await Promise.all(
        [...answers].map(async ([name, answer]) => {
          if ('known' in (await answer)) await services[name]?.stop()
        }),
      )
    },
  }
}

async function started(service: SharedService): Promise<Answer> {
  try {
    return { known: await service.start() }
  } catch (error) {
    if (error instanceof MissingProgram) {
      console.log(`${error.message} Until then, the tests that need it are skipped.`)
      return { missing: error.message }
    }
    return { failed: error instanceof Error ? String(error.stack) : String(error) }
  }
}

/** For workers: what `start` of this service returned. Throws `MissingProgram` if the service cannot be started. */
export async function askFor(name: string): Promise<unknown> {
  const answer = (await (await fetch(`${inject('sharedServices')}/${name}`)).json()) as Answer
  if ('missing' in answer) throw new MissingProgram(answer.missing)
  if ('failed' in answer) throw new Error(`The service ${name} could not be started: ${answer.failed}`)
  return answer.known
}
