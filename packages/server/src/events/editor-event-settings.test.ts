import { expect, test } from 'vitest'
import { SteppedClock } from '../../test/support/clock.ts'
import type { Db } from '../store/engine/db.ts'
import { EditorEventSettings } from './editor-event-settings.ts'

const db = {} as Db

/** The settings of API keys, which a test changes, and what was read of them. */
function scene() {
  const clock = new SteppedClock()
  const on = new Set<string>()
  const read: string[][] = []
  let whileReading = () => {}
  const settings = new EditorEventSettings(async (_, apiKeys) => {
    read.push([...apiKeys])
    const found = new Set(apiKeys.filter((apiKey) => on.has(apiKey)))
    whileReading()
    return found
  }, clock)
  const wanting = async (...apiKeys: string[]) => [...(await settings.wantedBy(db, apiKeys))]
  return { clock, on, read, settings, wanting, onRead: (run: () => void) => (whileReading = run) }
}

test('[24.2.2] settings are read once for all API keys, and again after a second', async () => {
  const { clock, on, read, wanting } = scene()
  on.add('a')
  expect(await wanting('a', 'b', 'a')).toEqual(['a'])
  on.add('b')
  clock.step(999)
  expect(await wanting('a', 'b')).toEqual(['a'])
  expect(await wanting('c')).toEqual([])
  clock.step(1)
  on.delete('a')
  expect(await wanting('a', 'b')).toEqual(['b'])
  expect(read).toEqual([['a', 'b'], ['c'], ['a', 'b']])
})

test('[24.2.2] changed settings apply at once, also if they were being read', async () => {
  const { on, settings, wanting, onRead } = scene()
  expect(await wanting('a')).toEqual([])
  on.add('a')
  settings.drop('a')
  expect(await wanting('a')).toEqual(['a'])
  settings.drop('a')
  onRead(() => {
    on.delete('a')
    settings.drop('a')
  })
  expect(await wanting('a')).toEqual(['a'])
  onRead(() => {})
  expect(await wanting('a')).toEqual([])
})
