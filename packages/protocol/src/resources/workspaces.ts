import Type from 'typebox'
import { choice, mapOf } from '../base/fields.ts'

export const KeyType = choice(['testing', 'production'])

export const ApiKeySummary = Type.Object({ apiKeyName: Type.String(), id: Type.String(), type: KeyType })

export const Workspace = Type.Object({
  id: Type.String(),
  name: Type.String(),
  owner: Type.Object({
    email: Type.String(),
    id: Type.String(),
    name: Type.String(),
    avatar: Type.String(),
  }),
  authToken: Type.String(),
  apiKeyList: mapOf(ApiKeySummary),
})
export type Workspace = Type.Static<typeof Workspace>

export const AuthToken = Type.Object({
  token: Type.String(),
  name: Type.String(),
  domains: Type.Array(Type.String()),
})

/** A domain as callers may write it: a URL or a host, with `*.` in front for everything below it (spec 2). */
export const DomainEntry = Type.String({ maxLength: 2000 })
/** Domains of one call (spec 0.7). */
export const domainsPerCall = 100
