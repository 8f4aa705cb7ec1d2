import { describe, expect, test } from 'vitest'
import { FrameReader, FrameWriter, headerBytes, maxMessageBytes, readFrame } from './frames.ts'

const readerOf = () => {
  const reader = new FrameReader()
  return {
    reader,
    /** Returns the messages that the frames complete, as text. */
    read: (frames: readonly Buffer[], now = 0) =>
      frames.flatMap((bytes) => {
        const message = reader.read(readFrame(bytes)!, now)
        return message ? [Buffer.from(message).toString()] : []
      }),
  }
}

describe('[B1.2] frames of messages', () => {
  const writer = new FrameWriter('sender-1', headerBytes + 3)
  const framesOf = (text: string) => writer.framesOf(Buffer.from(text))

  test('[B1.2] a frame that arrives again, or after a later one, is ignored', () => {
    const [one, two, three] = [framesOf('one'), framesOf('two'), framesOf('sie')]
    expect(readerOf().read([...one, ...one, ...three, ...two])).toEqual(['one', 'sie'])
  })

  test('[B1.2] a message of which a frame is missing is dropped, and the next one is not', () => {
    const long = framesOf('123456789')
    const next = framesOf('abcdef')
    expect(long).toHaveLength(3)
    for (const missing of [0, 1, 2]) {
      const { read } = readerOf()
      expect(read([...long.filter((_, index) => index !== missing), ...next])).toEqual(['abcdef'])
    }
  })

  test('[B1.2] a message that grows too large is dropped, and so is one whose sender fell silent', () => {
    const large = new FrameWriter('sender-2', headerBytes + maxMessageBytes / 2)
    const { read, reader } = readerOf()
    expect(read(large.framesOf(Buffer.alloc(maxMessageBytes + 1)))).toEqual([])
    const [first, ...rest] = framesOf('123456789')
    expect(read([first!], 10)).toEqual([])
    reader.dropBefore(11)
    expect(read(rest, 12)).toEqual([])
  })

  test('[B1.2] bytes that are no frame are ignored', () => {
    for (const bytes of [[], [1], [9, ...Array(20).fill(1)], Array(headerBytes - 1).fill(1)]) {
      expect(readFrame(Buffer.from(bytes as number[]))).toBe(undefined)
    }
  })
})
