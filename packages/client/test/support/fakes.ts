import { afterEach, beforeEach, expect, vi } from 'vitest'
import type { Connection } from '../../src/index.ts'
import { type FakeServer, fakeServer } from './fake-server.ts'

/** A server and a clock that are moved by hand. Whatever was connected is closed, and must leave no timer behind. */
export function useFakes() {
  const fakes = {
    server: undefined as unknown as FakeServer,
    open: [] as Connection[],
    warnings: [] as string[],
  }

  beforeEach(() => {
    vi.useFakeTimers()
    vi.spyOn(Math, 'random').mockReturnValue(0.5)
    fakes.warnings = []
    vi.spyOn(console, 'warn').mockImplementation((text: string) => void fakes.warnings.push(text))
    fakes.server = fakeServer()
    fakes.open = []
  })

  afterEach(() => {
    for (const connection of fakes.open) connection.close()
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
    /** A connection that is tried before a document is opened. */
    async connect(options: Parameters<FakeServer['connect']>[0] = {}): Promise<Connection> {
      const connection = fakes.server.connect(options)
      fakes.open.push(connection)
      connection.reconnect()
      await settle()
      return connection
    },
    /** What the console shows. */
    warnings: () => fakes.warnings,
    closeLater: (connection: Connection) => void fakes.open.push(connection),
    /** Milliseconds until there is another socket. */
    async untilNextSocket(): Promise<number> {
      const { sockets } = fakes.server
      const { length } = sockets
      const began = Date.now()
      while (sockets.length === length) {
        if (vi.getTimerCount() === 0) throw new Error('Nothing waits to connect.')
        await vi.advanceTimersToNextTimerAsync()
      }
      return Date.now() - began
    },
  }
}

/** Lets everything happen that waits for no clock. */
export const settle = () => vi.advanceTimersByTimeAsync(0)
