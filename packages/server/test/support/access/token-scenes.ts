import { createLocalJWKSet, type JSONWebKeySet, jwtVerify } from 'jose'
import { createUserTokens, type UserClaims } from '../../../src/access/tokens/user-tokens.ts'
import type * as given from '../given.ts'
import type { TestServer } from '../harness.ts'

export const ada = { name: 'Ada', email: 'ada@example.com' }

export const jwks = async (server: TestServer): Promise<JSONWebKeySet> =>
  (await fetch(`${server.url}/.well-known/jwks.json`)).json()

/** A token without permissions. */
export async function userToken({ client }: given.Tenant, userId: string): Promise<string> {
  const permissions = { resources: [] }
  return (await client.auth.generateToken({ userId, userProperties: ada, permissions })).data.token
}

/** A token that Generate Token does not issue, signed with the key of the server. */
export const signToken = ({ database, secrets }: TestServer, claims: UserClaims): Promise<string> =>
  createUserTokens(database, secrets).sign(claims, Date.now())

/** Verifies a token like the service of a customer does. */
export async function verify(server: TestServer, token: string, audience: string) {
  const currentDate = new Date(Date.now() + server.clock.offsetMs)
  const options = { issuer: 'svc', audience, algorithms: ['ES256'], currentDate }
  return (await jwtVerify(token, createLocalJWKSet(await jwks(server)), options)).payload
}
