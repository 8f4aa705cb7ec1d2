import { defaultTriggers, enabledEvents } from '@plenum/protocol'
import { describe, expect, test } from 'vitest'
import * as given from '../../../test/support/given.ts'
import { stores, useServer } from '../../../test/support/harness.ts'
import { findSettings } from './config.ts'

describe.each(stores)('the settings of the activity log on %s', (store) => {
  const server = useServer(store)

  test('[6.1] [6.2] [6.2.1] the log records no events until it is enabled, then those of its triggers, and none when it is off again', async () => {
    const { client, apiKey } = await given.tenant(server)
    const update = (activityServiceConfig: object) => client.activityConfig.update({ activityServiceConfig })
    const settings = () => findSettings(server.database.read, apiKey)
    const off = { isEnabled: false, immutable: false, events: new Set() }
    expect(await settings()).toEqual(off)
    await update({ triggers: { comment: { added: true } } })
    expect((await settings()).events).toEqual(new Set())
    await update({ isEnabled: true })
    expect(await settings()).toEqual({
      isEnabled: true,
      immutable: true,
      events: enabledEvents(defaultTriggers.activity),
    })
    await update({ immutable: false })
    await update({ isEnabled: false })
    expect(await settings()).toEqual(off)
  })
})
