import { expect, test } from 'vitest'
import { defaultTriggers, findEvent, eventNames, groupedNames, toDotted, toGrouped } from './events.ts'

test('[24.3] findEvent finds every event by its dotted and its grouped name', () => {
  for (const name of eventNames) {
    expect(findEvent(name)).toBe(name)
    const grouped = groupedNames[name]
    if (grouped !== null) expect(findEvent(grouped)).toBe(name)
  }
  expect(findEvent('toString')).toBeUndefined()
})

test('[24.3] toDotted converts triggers from every spelling, including those that toGrouped returns', () => {
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

const triggersThatAre = (isOn: boolean, service: keyof typeof defaultTriggers) =>
  Object.entries(defaultTriggers[service]).flatMap(([name, value]) => (value === isOn ? [name] : []))

test('[24.4] defaultTriggers has the triggers that each service starts with', () => {
  const suggestions = ['comment_annotation.suggestion_accept', 'comment_annotation.suggestion_reject']
  const comments = eventNames.filter((name) => name.startsWith('comment'))
  const defaults = [...comments.filter((name) => !suggestions.includes(name)), 'huddle.create', 'huddle.join']

  expect(triggersThatAre(true, 'email')).toEqual(defaults)
  expect(triggersThatAre(false, 'email')).toEqual(suggestions)
  expect(defaultTriggers.notification).toEqual(defaultTriggers.email)
  expect(triggersThatAre(true, 'webhook')).toEqual(defaults)
  expect(triggersThatAre(false, 'webhook')).toEqual([...suggestions, 'crdt.update_data', 'recorder.done'])
  expect(triggersThatAre(true, 'activity')).toEqual(comments)
  expect(triggersThatAre(false, 'activity')).toEqual([])
})
