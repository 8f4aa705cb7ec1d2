import { operation } from '../base/operation.ts'
import { ApiKeyAuthTokens, ApiKeyReference, NewAuthToken } from '../resources/workspaces.ts'

const apiKey = 'key_1b8d3q6z5w4f0m2k7c9x'
const token = {
  token: 'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.e30.c2lnbmF0dXJl',
  name: 'Default Auth Token',
  domains: [],
}

export const authTokens = {
  get: operation({
    spec: '1.6',
    path: '/workspace/authtokens/get',
    versions: ['v2'],
    access: 'workspace',
    effect: 'read',
    title: 'Get Auth Tokens',
    summary: 'Reads the auth tokens of an API key.',
    input: ApiKeyReference,
    output: ApiKeyAuthTokens,
    message: 'Auth tokens retrieved successfully.',
    errors: [{ status: 'NOT_FOUND', message: 'API key not found.' }],
    example: { input: { apiKey }, output: { apiKey, authTokens: [token] } },
  }),
  reset: operation({
    spec: '1.7',
    path: '/workspace/authtoken/reset',
    versions: ['v2'],
    access: 'workspace',
    effect: 'write',
    title: 'Reset Auth Token',
    summary: 'Replaces the auth token of an API key.',
    description:
      'The old token stops working immediately. User tokens that were issued before stay valid until they expire.',
    input: ApiKeyReference,
    output: NewAuthToken,
    message: 'Auth token reset successfully.',
    errors: [{ status: 'NOT_FOUND', message: 'API key not found.' }],
    example: { input: { apiKey }, output: { apiKey, newAuthToken: token } },
  }),
}
