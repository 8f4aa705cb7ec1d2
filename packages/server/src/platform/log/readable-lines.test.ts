import { expect, test } from 'vitest'
import { createLog } from './log.ts'
import { readableLines } from './readable-lines.ts'

const isoTime = String.raw`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z`

test('[O11.1] a readable log line has fields after the message and error stacks below, and escapes control characters', () => {
  let text = ''
  const log = createLog('info', readableLines({ write: (more) => void (text += more) }, { colors: false }))
  const cause = new Error('no \u001b[2Jroom')
  const error = Object.assign(new TypeError('broken\u0007', { cause }), {
    code: 'E1',
    row: 'kept out of the log',
  })
  log.error({ reqId: 'a-1', title: 'two words', count: 2, err: error }, 'it\u009bfailed\nbadly')
  const lines = text.split('\n')
  expect(lines[0]).toMatch(
    new RegExp(
      String.raw`^${isoTime} ERROR it\\u009bfailed\\u000abadly reqId=a-1 title="two words" count=2$`,
    ),
  )
  expect(lines[1]).toBe(String.raw`    TypeError: broken\u0007`)
  expect(lines[2]).toMatch(/^ {8}at /)
  expect(lines).toContain('    code=E1')
  expect(lines).toContain(String.raw`    caused by Error: no \u001b[2Jroom`)
  expect(text).not.toContain('kept out')
})
