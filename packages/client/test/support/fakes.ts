import { afterEach, beforeEach, expect, vi } from 'vitest'
import type { ApiError, Connection } from '../../src/index.ts'
import { type FakeServer, fakeServer } from './fake-server.ts'

/**
 * Gives each test of a file a fake server and a fake clock, which only the test moves. After a test its connections are
 * closed, and none of them may have left a timer.
 */
export function useFakes() {
  const fakes = {
    server: undefined as unknown as FakeServer,
    connections: [] as Connection[],
    warnings: [] as string[],
  }

  beforeEach(() => {
    vi.useFakeTimers()
    vi.spyOn(Math, 'random').mockReturnValue(0.5)
    fakes.warnings = []
    vi.spyOn(console, 'warn').mockImplementation((text: string) => void fakes.warnings.push(text))
    fakes.server = fakeServer()
    fakes.connections = []
  })

  afterEach(() => {
    for (const connection of fakes.connections) connection.close()
    const timers = vi.getTimerCount()
    vi.useRealTimers()
    vi.restoreAllMocks()
    vi.unstubAllGlobals()
    expect(timers).toBe(0)
  })

  return {
    get server(): FakeServer {
      return fakes.server
    },
    /** Connects before any document is opened, and waits for the socket. */
    async connect(options: Parameters<FakeServer['connect']>[0] = {}): Promise<Connection> {
      const connection = fakes.server.connect(options)
      fakes.connections.push(connection)
      connection.reconnect()
      await settle()
      return connection
    },
    /** The warnings in the console. */
    warnings: () => fakes.warnings,
    closeAfterTest: (connection: Connection) => void fakes.connections.push(connection),
    /** Advances the clock until the client opens another socket. Returns the milliseconds that this took. */
    async untilNextSocket(): Promise<number> {
      const { sockets } = fakes.server
      const { length } = sockets
      const startedAt = Date.now()
      while (sockets.length === length) {
        if (vi.getTimerCount() === 0) throw new Error('There is no timer, so no socket will open.')
        await vi.advanceTimersToNextTimerAsync()
      }
      return Date.now() - startedAt
    },
  }
}

/** Runs everything that does not wait for the clock. */
export const settle = () => vi.advanceTimersByTimeAsync(0)

/** Collects the errors that a connection, a document or an editor emits. */
export function collectErrors(source: { on: Connection['on'] }): ApiError[] {
  const errors: ApiError[] = []
  source.on('error', (error) => errors.push(error))
  return errors
}
