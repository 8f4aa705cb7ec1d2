import { expect, test } from 'vitest'
import { hasWord } from './patterns.ts'

test.each<[isFound: boolean, text: string, ...names: string[]]>([
  [true, 'for ada.', 'ada'],
  [false, 'an adapter of adas', 'ada'],
  [true, 'Not for Ada@Example.com', 'ada@example.com'],
  [false, 'bada@example.com', 'ada@example.com'],
  [true, '"Best,\\nada@example.com"', 'ada@example.com'],
  [true, '\\u003cada@example.com\\u003e', 'ada@example.com'],
  [true, 'users.ada and ?user=%20ada', 'ada'],
  [true, 'the id is a+b*c', 'x', 'a+b*c'],
  [false, 'anything, at all', ''],
  [false, '', 'ada'],
])('[14.2.6] [14.2.7] whether a name is in a text as a whole word: %s for %j', (isFound, text, ...names) => {
  expect(hasWord(text, names)).toBe(isFound)
})
