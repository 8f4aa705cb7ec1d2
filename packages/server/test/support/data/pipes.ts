import { execFileSync } from 'node:child_process'
import { closeSync, constants, openSync, readSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { newFolder } from './folders.ts'

/** The descriptor of a file that is closed after the test. */
export function openFile(path: string, flags: number): number {
  const fd = openSync(path, flags)
  onTestFinished(() => closeSync(fd))
  return fd
}

/** A full pipe whose reader reads only when the test calls `read`. */
export function fullPipe() {
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
    /** Empties the pipe and returns its text. */
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
