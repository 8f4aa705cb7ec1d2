import { expect, test } from 'vitest'
import { countStep, expectShortIterations } from '../../../test/support/measures/loop-work.ts'
import { createServerBus } from '../../bus.ts'
import { OpenInboxes } from './open-inboxes.ts'

const inboxOf = (userId: string, organizationId = 'org') => {
  let told = 0
  return {
    apiKey: 'key',
    organizationId,
    userId,
    onChanged() {
      countStep()
      told++
    },
    get told() {
      return told
    },
  }
}

function scene() {
  const bus = createServerBus({ error: (reason: unknown) => expect.unreachable(String(reason)) } as never)
  return { bus, inboxes: new OpenInboxes({ bus }) }
}

test('[R55] [R55.2] [S2] 20,000 open inboxes of an organization are notified of a change in short steps, each of them once', async () => {
  const { bus, inboxes } = scene()
  const open = Array.from({ length: 20_000 }, (_, index) => inboxOf(`u${index}`))
  for (const inbox of open) inboxes.add(inbox)
  const publish = async () => {
    for (const kind of ['inbox', 'gone'] as const) bus.publish({ kind, apiKey: 'key', organizationId: 'org' })
    await expect.poll(() => open.every(({ told }) => told === 1), { interval: 5 }).toBe(true)
  }
  await expectShortIterations(publish, { steps: 10 })
})

test('[R55] a change reaches the users and the organization that it names, also a change of access', async () => {
  const { bus, inboxes } = scene()
  const [ada, grace, elsewhere] = [inboxOf('ada'), inboxOf('grace'), inboxOf('ada', 'other')]
  for (const inbox of [ada, grace, elsewhere]) inboxes.add(inbox)
  const told = async (expected: number[]) =>
    expect.poll(() => [ada, grace, elsewhere].map((inbox) => inbox.told)).toEqual(expected)
  bus.publish({ kind: 'inbox', apiKey: 'key', organizationId: 'org', userIds: ['ada'] })
  await told([1, 0, 0])
  bus.publish({ kind: 'access', apiKey: 'key', userIds: ['ada'] })
  await told([2, 0, 1])
  bus.publish({ kind: 'access', apiKey: 'key', organizationIds: ['org'] })
  await told([3, 1, 1])
  bus.publish({ kind: 'inbox', apiKey: 'another key', organizationId: 'org' })
  inboxes.delete(ada)
  bus.publish({ kind: 'inbox', apiKey: 'key', organizationId: 'org' })
  await told([3, 2, 1])
  inboxes.delete(grace)
  inboxes.delete(elsewhere)
  inboxes.close()
})
