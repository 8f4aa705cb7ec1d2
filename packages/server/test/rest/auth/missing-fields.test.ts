import { expect, test } from 'vitest'
import * as given from '../../support/given.ts'
import { anyStore, useServer } from '../../support/harness.ts'

const server = useServer(anyStore)
const ada = { name: 'Ada', email: 'ada@example.com' }

/** The error of Generate Token. */
async function refusal(data: object): Promise<unknown> {
  const { headers } = await given.tenant(server)
  const { status, body } = await server.post('/v2/auth/generate_token', { data }, headers)
  expect(status).toBe(400)
  return body.error
}

test.each<[data: object, message: string, ...missing: string[]]>([
  [
    {},
    'userId is required.',
    'userId',
    'userProperties',
    'userProperties.name',
    'permissions',
    'permissions.resources',
  ],
  [
    { userId: 'u1', userProperties: { name: ' ' }, permissions: {} },
    'userProperties.name is required.',
    'userProperties.name',
    'permissions.resources',
  ],
  [
    { userId: 'u1', userProperties: 1 },
    'userProperties must be an object.',
    'permissions',
    'permissions.resources',
  ],
  [
    { userId: 'u1', userProperties: { name: 'Ada' }, permissions: {} },
    'permissions.resources is required.',
    'permissions.resources',
  ],
])('[7.1.5] generateToken of %j says "%s" and names all that is missing', async (...row) => {
  const [data, message, ...missing] = row
  expect(await refusal(data)).toEqual({ status: 'INVALID_ARGUMENT', message, details: { missing } })
})

test('[7.1.5] a refusal of generateToken for another reason has no details', async () => {
  const data = { userId: 'u1', userProperties: { ...ada, name: 1 }, permissions: { resources: [] } }
  expect(await refusal(data)).toEqual({
    status: 'INVALID_ARGUMENT',
    message: 'userProperties.name must be a string.',
  })
})
