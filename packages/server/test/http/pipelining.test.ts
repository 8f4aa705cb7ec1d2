import { ServerResponse } from 'node:http'
import { describe, expect, test, vi } from 'vitest'
import { countStep, expectShortIterations } from '../support/measures/loop-work.ts'
import { useServer } from '../support/harness.ts'
import { openHttp } from '../support/clients/raw-http.ts'

const get = (path: string) => `GET ${path} HTTP/1.1\r\nhost:a\r\n\r\n`

describe('pipelined requests', () => {
  const server = useServer('sqlite', { isOwn: true })

  test('[S5.3] a connection that sends 20 requests at once gets 5 answers, then RESOURCE_EXHAUSTED, and is closed', async () => {
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

  test('[S5.3] a connection may send any number of requests if at most 4 of them are unanswered at a time', async () => {
    const connection = openHttp(server.url)
    connection.send(get('/x').repeat(4))
    for (let answered = 0; answered < 100; answered++) {
      expect(await connection.answer()).toMatchObject({ status: 404 })
      connection.send(get('/x'))
    }
    connection.socket.destroy()
  })

  test.each(['/x', '/metrics'])(
    '[S2] 2,000 requests for %s in one write do not block the event loop',
    async (path) => {
      const sendAll = async () => {
        const connection = openHttp(server.url)
        connection.send(get(path).repeat(2_000))
        await connection.closed
      }
      const { end } = ServerResponse.prototype
      const answer = vi.spyOn(ServerResponse.prototype, 'end').mockImplementation(function (
        this: ServerResponse,
        ...args: unknown[]
      ) {
        countStep()
        return end.apply(this, args as Parameters<typeof end>)
      })
      await expectShortIterations(sendAll, { steps: 10 })
      answer.mockRestore()
    },
  )

  test('[S5.4] 20 concurrent requests for /metrics cause at most two renderings', async () => {
    const texts = await Promise.all(
      Array.from({ length: 20 }, async () => (await fetch(`${server.url}/metrics`)).text()),
    )
    // There are two renderings if the half second of the first one ends between the requests.
    expect(new Set(texts).size).toBeLessThanOrEqual(2)
  })
})
