import { expect, test } from 'vitest'
import { mentionCandidates, mentionsIn, replaceMentions } from './mentions.ts'

const users = new Set(['ada', 'a}', 'a}}b', 'x{{y', 'y', '{', '}', 'a'.repeat(256)])
const mentioned = (text: string) => [...mentionsIn(text, (id) => users.has(id))]

test.each<[text: string, ...ids: string[]]>([
  ['no mention'],
  ['{{ada}}', 'ada'],
  ['{{ada}} and {{ada}}, {{y}}', 'ada', 'y'],
  ['{{unknown}} {{ada}}', 'ada'],
  ['{{a}}}', 'a}'],
  ['{{a}}b}}', 'a}}b'],
  ['{{x{{y}}', 'x{{y'],
  ['{{z{{y}}', 'y'],
  ['{{{}}', '{'],
  ['{{}}}', '}'],
  ['{{}}'],
  ['{{ada\n}}'],
  ['{{ada'],
  [`{{${'a'.repeat(256)}}}`, 'a'.repeat(256)],
  [`{{${'a'.repeat(257)}}}`],
])('[19.0.4] %s mentions the users %s', (text, ...ids) => {
  expect(mentioned(text)).toEqual(ids)
  const candidates = mentionCandidates(text)
  expect(ids.filter((id) => !candidates.has(id))).toEqual([])
})

test('[19.0.4] replaceMentions replaces each mention once and keeps the text around it', () => {
  const text = '{{ada}}, {{a}}}: {{nobody}} {{x{{y}}!'
  const shown = replaceMentions(text, (id) => (users.has(id) ? `@${id}{{ada}}` : undefined))
  expect(shown).toBe('@ada{{ada}}, @a}{{ada}}: {{nobody}} @x{{y{{ada}}!')
})

test('[19.0.4] a text of braces has few candidates', () => {
  const text = Array.from({ length: 500 }, (_, index) => `{{user${index}}}`).join(' ')
  expect(mentionCandidates(text).size).toBe(500)
  expect(mentionCandidates('{{}}'.repeat(2_500)).size).toBeLessThan(10)
  expect(mentionCandidates('{'.repeat(10_000)).size).toBe(0)
})
