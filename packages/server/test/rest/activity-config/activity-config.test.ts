import { defaultTriggers, toGrouped } from '@plenum/protocol'
import { afterEach, describe, expect, test, vi } from 'vitest'
import * as given from '../../support/given.ts'
import { stores, useServer } from '../../support/harness.ts'

const now = 1_900_000_000_000
const allEvents = toGrouped(defaultTriggers.activity)

describe.each(stores)('activity config on %s', (store) => {
  const server = useServer(store)
  afterEach(() => void vi.useRealTimers())
  const tenant = async () => {
    const found = await given.tenant(server)
    const { client, headers } = found
    return {
      ...found,
      change: (data: unknown) => server.post('/v2/workspace/activityconfig/update', { data }, headers),
      update: async (activityServiceConfig: object) =>
        (await client.activityConfig.update({ activityServiceConfig })).data.activityServiceConfig,
      config: async () => (await client.activityConfig.get()).data.activityServiceConfig,
    }
  }

  test('[6.1] [0.1.2] get needs no body, and the log is off until it is enabled', async () => {
    const { headers } = await tenant()
    const answer = await server.post('/v2/workspace/activityconfig/get', '', headers)
    expect(answer.body).toEqual({
      result: {
        status: 'success',
        message: 'Activity logs configuration retrieved successfully.',
        data: { activityServiceConfig: { isEnabled: false } },
      },
    })
  })

  test('[6.2] settings that are sent while the log is off are stored without defaults', async () => {
    const { update, config } = await tenant()
    const stored = { isEnabled: false, triggers: { comment: { added: true } } }
    expect(await update({ triggers: stored.triggers })).toEqual(stored)
    expect(await config()).toEqual(stored)
    expect(await update({ triggers: { comment: { deleted: false } } })).toEqual({
      isEnabled: false,
      triggers: { comment: { added: true, deleted: false } },
    })
  })

  test('[6.2.1] [24.4] enabling the log stores the defaults of everything that was never sent', async () => {
    const { update, config } = await tenant()
    vi.setSystemTime(now)
    const stored = { isEnabled: true, immutable: true, enabledTime: now, triggers: allEvents }
    expect(await update({ isEnabled: true })).toEqual(stored)
    expect(await config()).toEqual(stored)
  })

  test('[6.2] [6.2.1] values that were sent win over the defaults, and enabling the log again changes none of them', async () => {
    const { update } = await tenant()
    vi.setSystemTime(now)
    await update({ triggers: { comment: { updated: false } } })
    const stored = {
      isEnabled: true,
      immutable: false,
      enabledTime: now,
      triggers: { comment: { ...allEvents.comment, updated: false, added: false } },
    }
    expect(
      await update({ isEnabled: true, immutable: false, triggers: { comment: { added: false } } }),
    ).toEqual(stored)
    vi.setSystemTime(now + 1000)
    expect(await update({ isEnabled: false })).toEqual({ ...stored, isEnabled: false })
    expect(await update({ isEnabled: true })).toEqual(stored)
    expect(await update({ enabledTime: 5, immutable: true })).toEqual({
      ...stored,
      enabledTime: 5,
      immutable: true,
    })
  })

  const at = 'activityServiceConfig'
  test.each<[message: string, data: object]>([
    ['activityServiceConfig is required.', {}],
    ['At least one field must be provided for update', { [at]: {} }],
    ['At least one field must be provided for update', { [at]: { junk: 1 } }],
    [`${at} must be an object.`, { [at]: 'on' }],
    [`${at}.isEnabled must be a boolean.`, { [at]: { isEnabled: 'yes' } }],
    [`${at}.enabledTime must be an integer.`, { [at]: { enabledTime: 'now' } }],
    [`${at}.enabledTime must be at least 0.`, { [at]: { enabledTime: -1 } }],
    [`${at}.triggers.huddle is not a known field.`, { [at]: { triggers: { huddle: { join: true } } } }],
    [
      `${at}.triggers.comment.join is not a known field.`,
      { [at]: { triggers: { comment: { join: true } } } },
    ],
  ])('[6.2] [0.3] update refuses a faulty body: %s', async (message, data) => {
    const { change, config } = await tenant()
    expect(await change(data)).toMatchObject({
      status: 400,
      body: { error: { status: 'INVALID_ARGUMENT', message } },
    })
    expect(await config()).toEqual({ isEnabled: false })
  })

  test('[0.2.1] two API keys have separate activity settings', async () => {
    const one = await tenant()
    const other = await tenant()
    await one.update({ isEnabled: true })
    expect(await other.config()).toEqual({ isEnabled: false })
  })
})
