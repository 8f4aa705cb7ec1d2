import type { IncomingMessage } from 'node:http'
import { finished } from 'node:stream'
import type { Clock } from '../clock.ts'

export class AnswerTooLarge extends Error {
  override name = 'AnswerTooLarge'
}

/** Reads the whole body. Rejects if it is larger, or incomplete. */
export function readWhole(response: IncomingMessage, maxBytes: number): Promise<Buffer> {
  return new Promise((onRead, onError) => {
    const chunks: Buffer[] = []
    let bytes = 0
    response.on('error', onError)
    response.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes > maxBytes) {
        response.destroy(new AnswerTooLarge(`The answer has more than ${maxBytes} bytes.`))
      } else chunks.push(chunk)
    })
    response.on('end', () => onRead(Buffer.concat(chunks)))
  })
}

/** Reads the beginning of the body: what arrives in time, up to `maxBytes`. Then closes the connection. Never rejects. */
export function readBeginning(
  response: IncomingMessage,
  maxBytes: number,
  clock: Clock,
  maxMs: number,
): Promise<Buffer> {
  return new Promise((onRead) => {
    const chunks: Buffer[] = []
    let bytes = 0
    const onEnd = () => {
      stopTimer()
      onRead(Buffer.concat(chunks).subarray(0, maxBytes))
      response.destroy()
    }
    const stopTimer = clock.setTimeout(onEnd, maxMs)
    finished(response, onEnd)
    response.on('data', (chunk: Buffer) => {
      chunks.push(chunk)
      bytes += chunk.length
      if (bytes >= maxBytes) onEnd()
    })
  })
}
