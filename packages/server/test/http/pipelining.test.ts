import { describe, expect, test } from 'vitest'
import { maxIterationMs } from '../../src/platform/turns/loop-time.ts'
import { expectFreeLoop, shortestLoopBlock } from '../support/event-loop.ts'
import { useServer } from '../support/harness.ts'
import { openHttp } from '../support/clients/raw-http.ts'

const get = (path: string) => `GET ${path} HTTP/1.1\r\nhost:a\r\n\r\n`

describe('pipelined requests', () => {
  const server = useServer('sqlite')

  test('[S5.3] a connection with too many waiting requests gets its answers, then RESOURCE_EXHAUSTED, and is closed', async () => {
    const connection = openHttp(server.url)
    connection.send(get('/healthz').repeat(20))
    for (let answered = 0; answered < 5; answered++) {
      expect(await connection.answer()).toMatchObject({ status: 200 })
    }
    const refusal = await connection.answer()
    expect(refusal?.status).toBe(429)
    expect(JSON.parse(refusal?.text ?? '')).toEqual({
      error: {
        status: 'RESOURCE_EXHAUSTED',
        message: 'Too many requests wait on this connection. Read the answers before you send more.',
      },
    })
    await connection.closed
  })

  test('[S5.3] a connection that reads its answers may pipeline requests without an end', async () => {
    const connection = openHttp(server.url)
    connection.send(get('/x').repeat(4))
    for (let answered = 0; answered < 100; answered++) {
      expect(await connection.answer()).toMatchObject({ status: 404 })
      connection.send(get('/x'))
    }
    connection.socket.destroy()
  })

  test('[S5.1] iterations of the event loop are short after a client has connected', async () => {
    // The answer may take longer than the time for which iterations stay short.
    await expect
      .poll(async () => {
        const connection = openHttp(server.url)
        connection.send(get('/x'))
        await connection.answer()
        connection.socket.destroy()
        return maxIterationMs()
      })
      .toBe(0.1)
    await expect.poll(() => maxIterationMs()).toBe(8)
  })

  test.each(['/x', '/metrics'])(
    '[S2] thousands of GET %s in one write do not block the event loop',
    async (path) => {
      const held = await shortestLoopBlock(async () => {
        const connection = openHttp(server.url)
        connection.send(get(path).repeat(2_000))
        await connection.closed
      })
      expectFreeLoop(held, { promisedMs: 40 })
    },
  )

  test('[S5.4] concurrent requests for /metrics share one rendering', async () => {
    const texts = await Promise.all(
      Array.from({ length: 20 }, async () => (await fetch(`${server.url}/metrics`)).text()),
    )
    // Two renderings if half a second has just passed.
    expect(new Set(texts).size).toBeLessThanOrEqual(2)
  })
})
