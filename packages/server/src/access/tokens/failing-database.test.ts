import { decodeJwt } from 'jose'
import { describe, expect, test } from 'vitest'
import { stores, useServer } from '../../../test/support/harness.ts'
import { createUserTokens } from './user-tokens.ts'

describe.each(stores)('user tokens on %s', (store) => {
  const server = useServer(store)

  test('[7.1.3] the server issues tokens again after a database failure', async () => {
    let fails = true
    const failing = Object.create(server.database, {
      read: {
        get: () => {
          if (!fails) return server.database.read
          throw new Error('The database is away.')
        },
      },
    }) as typeof server.database
    const userTokens = createUserTokens(failing, server.secrets)
    const user = { apiKey: 'key_1', userId: 'u1', userProperties: {}, permissions: { resources: [] } }
    await expect(userTokens.sign(user, Date.now())).rejects.toThrow('The database is away.')
    fails = false
    expect(decodeJwt(await userTokens.sign(user, Date.now())).sub).toBe('u1')
  })
})
