import { expect, test } from 'vitest'
import { defaultTriggers, eventNamed, eventNames, groupedNames, toDotted, toGrouped } from './events.ts'

test('[24.3] every grouped name leads back to its event, and none is the dotted name of another', () => {
  for (const name of eventNames) {
    expect(eventNamed(name)).toBe(name)
    const grouped = groupedNames[name]
    if (grouped !== null) expect(eventNamed(grouped)).toBe(name)
  }
  expect(eventNamed('toString')).toBeUndefined()
})

test('[24.3] triggers mean the same in every spelling', () => {
  expect(
    toDotted({ 'comment.add': true, 'comment.deleted': false, huddle: { created: true, join: false } }),
  ).toEqual({
    'comment.add': true,
    'comment.delete': false,
    'huddle.create': true,
    'huddle.join': false,
  })
  for (const triggers of Object.values(defaultTriggers))
    expect(toDotted(toGrouped(triggers))).toEqual(triggers)
})

const named = (service: keyof typeof defaultTriggers, on: boolean) =>
  Object.entries(defaultTriggers[service]).flatMap(([name, value]) => (value === on ? [name] : []))

test('[24.4] the triggers of a first start', () => {
  const suggestions = ['comment_annotation.suggestion_accept', 'comment_annotation.suggestion_reject']
  const comments = eventNames.filter((name) => name.startsWith('comment'))
  const usual = [...comments.filter((name) => !suggestions.includes(name)), 'huddle.create', 'huddle.join']

  expect(named('email', true)).toEqual(usual)
  expect(named('email', false)).toEqual(suggestions)
  expect(defaultTriggers.notification).toEqual(defaultTriggers.email)
  expect(named('webhook', true)).toEqual(usual)
  expect(named('webhook', false)).toEqual([...suggestions, 'crdt.update_data', 'recorder.done'])
  expect(named('activity', true)).toEqual(comments)
  expect(named('activity', false)).toEqual([])
})
