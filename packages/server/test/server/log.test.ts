import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { constants, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { describe, expect, onTestFinished, test } from 'vitest'
import { newFolder } from '../support/data/folders.ts'
import { fullPipe, openFile } from '../support/data/pipes.ts'
import { startProcess } from '../support/processes/process.ts'
import { programFile } from '../support/processes/programs.ts'
import type { ServerProcess } from '../support/processes/server-process.ts'

/** Returns a function that gives the text received from the stream so far. */
function collect(stream: Readable | null): () => string {
  let text = ''
  stream?.setEncoding('utf8').on('data', (more: string) => void (text += more))
  return () => text
}

/** Sends a request that is logged. */
async function request({ url }: ServerProcess): Promise<void> {
  const response = await fetch(`${url}/v2/workspace/get`, { method: 'POST' })
  await response.arrayBuffer()
}

/** A process that does not end in order ends with code 1 when the `SHUTDOWN_SECONDS` are over. */
async function expectToEndInOrder(server: ServerProcess): Promise<void> {
  expect(await server.terminate()).toBe(0)
}

describe('[O10] a log that cannot be written', () => {
  const env = () => ({ DATA_DIR: newFolder(), LOG_LEVEL: 'debug', SHUTDOWN_SECONDS: '60' })

  test('[O10] [O10.1] a server whose log reader is gone reports it, answers requests and ends on SIGTERM', async () => {
    const server = await startProcess('server', env(), { stdout: 'pipe', stderr: 'pipe' })
    const says = collect(server.child.stderr)
    server.child.stdout?.destroy()
    await request(server)
    await expect.poll(says).toContain('Plenum cannot write its log: EPIPE')
    await request(server)
    await expectToEndInOrder(server)
    expect(says().match(/cannot write its log/g)).toHaveLength(1)
  })

  test('[O10] [O10.2] a server whose log reader does not read answers requests and ends on SIGTERM', async () => {
    const { path } = fullPipe()
    const server = await startProcess('server', env(), {
      stdout: openFile(path, constants.O_WRONLY),
      stderr: 'pipe',
    })
    await request(server)
    await expectToEndInOrder(server)
  })

  test('[O10] [O10.1] a server whose log disk is full reports it, answers requests and ends on SIGTERM', async () => {
    const stdout = openFile('/dev/full', constants.O_WRONLY)
    const server = await startProcess('server', env(), { stdout, stderr: 'pipe' })
    const says = collect(server.child.stderr)
    await expect.poll(says).toContain('Plenum cannot write its log: ENOSPC')
    await request(server)
    await expectToEndInOrder(server)
  })

  test('[O10.2] a log file or pipe has every line after the server has ended', async () => {
    const file = join(newFolder(), 'log')
    const stdout = openFile(file, constants.O_WRONLY | constants.O_CREAT)
    const intoFile = await startProcess('server', env(), { stdout, stderr: 'pipe' })
    const intoPipe = await startProcess('server', env(), { stdout: 'pipe', stderr: 'pipe' })
    const piped = collect(intoPipe.child.stdout)
    for (const server of [intoFile, intoPipe]) {
      await request(server)
      await expectToEndInOrder(server)
    }
    for (const log of [() => readFileSync(file, 'utf8'), piped]) {
      const messages = () =>
        log()
          .split('\n')
          .filter(Boolean)
          .map((line) => (JSON.parse(line) as { msg: string }).msg)
      await expect.poll(() => messages().at(-1)).toBe('stopped')
      expect(messages()).toEqual([
        expect.stringContaining('written to the outbox'),
        expect.stringContaining('listening at '),
        'request',
        'shutting down',
        'stopped',
      ])
    }
  })
})

describe('[O11] the format of the log', () => {
  const isoTime = String.raw`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z`

  /** Returns the output of a server in a terminal, from its start until Ctrl-C has stopped it. */
  async function runInTerminal(env: Record<string, string>): Promise<string> {
    const command = `exec ${process.execPath} ${await programFile('server')}`
    const child = spawn('script', ['--quiet', '--return', '--command', command, '/dev/null'], {
      env: { PATH: process.env.PATH, DATA_DIR: newFolder(), PORT: '0', ...env },
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    onTestFinished(() => void child.kill('SIGKILL'))
    const ended = once(child, 'close')
    const printed = collect(child.stdout)
    await expect.poll(printed, { timeout: 90_000 }).toContain('Plenum is running')
    child.stdin.write('\u0003')
    expect(await ended).toEqual([0, null])
    return printed()
  }

  test.skipIf(process.platform !== 'linux')(
    '[O11.1] [O11.2] the log in a terminal is readable text with colors, unless NO_COLOR or LOG_FORMAT=json is set',
    async () => {
      const colored = await runInTerminal({})
      const plain = await runInTerminal({ NO_COLOR: '1' })
      const json = await runInTerminal({ LOG_FORMAT: 'json' })
      expect(colored).toMatch(
        new RegExp(`\u001b\\[90m${isoTime}\u001b\\[39m \u001b\\[32mINFO \u001b\\[39m listening at http://`),
      )
      expect(plain).toMatch(new RegExp(`${isoTime} INFO  listening at http://`))
      expect(plain).toMatch(
        new RegExp(`${isoTime} INFO  shutting down signal=SIGINT\r\n${isoTime} INFO  stopped`),
      )
      expect(plain).not.toContain('\u001b')
      expect(json).toMatch(new RegExp(`{"level":"info","time":"${isoTime}","msg":"stopped"}`))
    },
  )

  test('[O11] [O11.1] the log outside a terminal is JSON with level names and ISO times, or text with LOG_FORMAT=pretty', async () => {
    const log = async (env: Record<string, string>) => {
      const server = await startProcess(
        'server',
        { DATA_DIR: newFolder(), LOG_LEVEL: 'info', ...env },
        { stdout: 'pipe', stderr: 'pipe' },
      )
      const printed = collect(server.child.stdout)
      await server.terminate()
      await expect.poll(printed).toContain('stopped')
      return printed().trimEnd().split('\n')
    }
    for (const line of await log({})) {
      expect(JSON.parse(line)).toMatchObject({
        level: 'info',
        time: expect.stringMatching(`^${isoTime}$`),
        msg: expect.any(String),
      })
    }
    for (const line of await log({ LOG_FORMAT: 'pretty' })) {
      expect(line).toMatch(new RegExp(`^${isoTime} INFO  [a-z]`))
    }
  })
})
