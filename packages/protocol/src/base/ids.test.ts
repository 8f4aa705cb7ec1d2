import { expect, test } from 'vitest'
import { isChosenId } from './ids.ts'

test.each(['a', 'https://x.y/z?a=b#c', 'a b', '...', '頁/😀', 'a'.repeat(256), '😀'.repeat(256)])(
  '[0.6] isChosenId accepts %j',
  (id) => {
    expect(isChosenId(id)).toBe(true)
  },
)

test.each(['', ' ', '.', '..', 'a\u0000', 'a\nb', '\u009f', '\ud83d', 'a'.repeat(257), 1, null, undefined])(
  '[0.6] isChosenId refuses %j',
  (value) => {
    expect(isChosenId(value)).toBe(false)
  },
)
