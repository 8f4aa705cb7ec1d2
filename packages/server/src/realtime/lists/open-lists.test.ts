import { expect, test } from 'vitest'
import { SteppedClock } from '../../../test/support/clock.ts'
import { countStep, expectShortIterations } from '../../../test/support/measures/loop-work.ts'
import { createServerBus } from '../../bus.ts'
import { systemClock } from '../../platform/clock.ts'
import { type ListName, OpenLists } from './open-lists.ts'

const [apiKey, organizationId] = ['key', 'org']

function scene(clock = systemClock) {
  const bus = createServerBus({ error: (reason: unknown) => expect.unreachable(String(reason)) } as never)
  const lists = new OpenLists({ bus, clock })
  const open = (userId: string, list: ListName = 'documents') => {
    const told: (readonly string[] | 'all')[] = []
    const opened = {
      apiKey,
      organizationId,
      userId,
      list,
      async onChanged(ids: readonly string[] | undefined) {
        countStep()
        told.push(ids ?? 'all')
      },
    }
    lists.add(opened)
    return { told, close: () => lists.delete(opened) }
  }
  const change = (...documentIds: string[]) =>
    bus.publish({ kind: 'documents', apiKey, organizationId, documentIds })
  return { bus, open, change }
}

const settled = () => new Promise((resolve) => setTimeout(resolve, 0))

test('[R56.2] a list is told at once, then of all that changed within a second, and after more than 30 changes to read again', async () => {
  const clock = new SteppedClock()
  const { open, change } = scene(clock)
  const { told } = open('ada')
  change('d1')
  clock.step(20)
  await settled()
  expect(told).toEqual([['d1']])
  change('d2')
  change('d3', 'd2')
  clock.step(999)
  await settled()
  expect(told).toHaveLength(1)
  clock.step(21)
  await settled()
  expect(told).toEqual([['d1'], ['d2', 'd3']])
  for (let i = 0; i < 31; i++) change(`d${i}`)
  clock.step(1020)
  await settled()
  expect(told.slice(2)).toEqual(['all'])
  clock.step(5000)
  await settled()
  expect(told).toHaveLength(3)
  expect(clock.pending).toBe(0)
})

test('[R56] a change reaches the lists that it concerns, and no closed list', async () => {
  const { bus, open, change } = scene()
  const [ada, grace, people, closed] = [open('ada'), open('grace'), open('ada', 'people'), open('eve')]
  closed.close()
  change('d1')
  bus.publish({ kind: 'people', apiKey, organizationIds: [organizationId], userIds: ['bob'] })
  await expect.poll(() => [ada.told, grace.told, people.told]).toEqual([[['d1']], [['d1']], [['bob']]])
  bus.publish({ kind: 'access', apiKey, userIds: ['ada'] })
  bus.publish({ kind: 'access', apiKey: 'other' })
  await expect.poll(() => [ada.told.at(-1), people.told.at(-1)]).toEqual(['all', 'all'])
  expect([grace.told.length, closed.told]).toEqual([1, []])
})

test('[R56] [S2] 20,000 open lists of an organization are told in short steps, each of them once', async () => {
  const { bus, open } = scene()
  const all = Array.from({ length: 20_000 }, (_, index) => open(`u${index}`))
  const publish = async () => {
    bus.publish({ kind: 'access', apiKey, organizationIds: [organizationId] })
    await expect.poll(() => all.every(({ told }) => told.length === 1), { interval: 5 }).toBe(true)
  }
  await expectShortIterations(publish, { steps: 10 })
})
