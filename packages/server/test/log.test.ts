import { execFileSync } from 'node:child_process'
import {
  closeSync,
  constants,
  mkdtempSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { LogDestination } from '../src/platform/log-destination.ts'
import { buildServer, type ServerProcess, startProcess } from './processes/process.ts'

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'plenum-log-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

function openFile(path: string, flags: number): number {
  const fd = openSync(path, flags)
  onTestFinished(() => closeSync(fd))
  return fd
}

/** A pipe that is full, and whose reader does not read until it is told to. */
function fullPipe() {
  const path = join(newFolder(), 'pipe')
  execFileSync('mkfifo', [path])
  const reader = openFile(path, constants.O_RDWR | constants.O_NONBLOCK)
  const filler = Buffer.alloc(4096)
  try {
    for (;;) writeSync(reader, filler)
  } catch (error) {
    expect(error).toMatchObject({ code: 'EAGAIN' })
  }
  const bytes = Buffer.alloc(65_536)
  return {
    path,
    /** Empties the pipe. */
    read(): string {
      let text = ''
      try {
        for (;;) text += bytes.toString('latin1', 0, readSync(reader, bytes))
      } catch (error) {
        expect(error).toMatchObject({ code: 'EAGAIN' })
      }
      return text.replaceAll('\0', '')
    },
  }
}

/** What arrived at the stream so far. */
function collect(stream: Readable | null): () => string {
  let text = ''
  stream?.setEncoding('utf8').on('data', (more: string) => void (text += more))
  return () => text
}

/** A request that is logged. */
async function request({ url }: ServerProcess): Promise<void> {
  const response = await fetch(`${url}/v2/workspace/get`, { method: 'POST' })
  await response.arrayBuffer()
}

async function expectToEndInOrder(server: ServerProcess): Promise<void> {
  const began = Date.now()
  expect(await server.terminate()).toBe(0)
  expect(Date.now() - began).toBeLessThan(10_000)
}

describe('[O10] a log that cannot be written', () => {
  beforeAll(buildServer)
  const env = () => ({ DATA_DIR: newFolder(), LOG_LEVEL: 'debug', SHUTDOWN_SECONDS: '10' })

  test('[O10] the server says so, answers, and ends on SIGTERM when the reader of its log is gone', async () => {
    const server = await startProcess('server', env(), { stdout: 'pipe', stderr: 'pipe' })
    const says = collect(server.child.stderr)
    server.child.stdout?.destroy()
    await request(server)
    await expect.poll(says).toContain('Plenum cannot write its log: EPIPE')
    await request(server)
    await expectToEndInOrder(server)
    expect(says().match(/cannot write its log/g)).toHaveLength(1)
  })

  test('[O10] the server answers and ends on SIGTERM when the reader of its log does not read', async () => {
    const { path } = fullPipe()
    const server = await startProcess('server', env(), {
      stdout: openFile(path, constants.O_WRONLY),
      stderr: 'pipe',
    })
    await request(server)
    await expectToEndInOrder(server)
  })

  test('[O10] the server says so, answers, and ends on SIGTERM when the disk of its log is full', async () => {
    const stdout = openFile('/dev/full', constants.O_WRONLY)
    const server = await startProcess('server', env(), { stdout, stderr: 'pipe' })
    const says = collect(server.child.stderr)
    await expect.poll(says).toContain('Plenum cannot write its log: ENOSPC')
    await request(server)
    await expectToEndInOrder(server)
  })

  test('[O10] a file or a pipe has every line once the server has ended', async () => {
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
        expect.stringContaining('listening at '),
        'request',
        'shutting down',
        'stopped',
      ])
    }
  })
})

describe('[O10] the destination of the log', () => {
  const openDestination = (path: string) => {
    const lost: number[] = []
    const failures: (string | undefined)[] = []
    const output = { fd: openFile(path, constants.O_WRONLY | constants.O_NONBLOCK), nonBlocking: true }
    const destination = new LogDestination(output, {
      onFailure: ({ code }) => failures.push(code),
      onLost: (lines) => lost.push(lines),
    })
    return { destination, lost, failures }
  }

  test('[O10] lines wait for a slow reader up to a bound; the lines beyond it are lost and counted', async () => {
    const pipe = fullPipe()
    const { destination, lost, failures } = openDestination(pipe.path)
    const lines = Array.from(
      { length: 3000 },
      (_, index) => `${String(index).padStart(4, '0')} ${'x'.repeat(1000)}\n`,
    )
    for (const line of lines) destination.write(line)

    const kept = Math.floor((1024 * 1024) / 1006)
    let read = ''
    await expect.poll(() => (read += pipe.read()).length, { interval: 1 }).toBe(kept * 1006)
    expect(read).toBe(lines.slice(0, kept).join(''))
    expect(lost).toEqual([3000 - kept])
    expect(failures).toEqual([])

    destination.write('after\n')
    await expect.poll(() => pipe.read()).toBe('after\n')
  })

  test('[O10] at exit it writes what waits, and gives up when nobody reads', () => {
    const pipe = fullPipe()
    const { destination } = openDestination(pipe.path)
    destination.write('last words\n')
    // Nobody reads: it would wait forever.
    destination.flushSync()
    pipe.read()
    destination.flushSync()
    expect(pipe.read()).toBe('last words\n')
  })
})
