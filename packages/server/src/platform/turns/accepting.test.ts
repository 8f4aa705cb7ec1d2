import { describe, expect, test } from 'vitest'
import { openHttp } from '../../../test/support/clients/raw-http.ts'
import { useServer } from '../../../test/support/harness.ts'
import { maxIterationMs } from './loop-time.ts'

const get = (path: string) => `GET ${path} HTTP/1.1\r\nhost:a\r\n\r\n`

describe('the event loop while clients connect', () => {
  const server = useServer('sqlite', { isOwn: true })

  test('[S5] [S5.1] the time limit of an event loop iteration is 0.1 ms after a client has connected, and then 8 ms again', async () => {
    // The answer may arrive after the limit is 8 ms again, so the test may have to repeat the connection.
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
})
