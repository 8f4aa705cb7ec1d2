import type { Operation } from './operation.ts'
import { authTokens } from './operations/auth-tokens.ts'
import { organizations } from './operations/organizations.ts'
import { workspace } from './operations/workspace.ts'

/** Every operation of the interface, by family and verb. */
export const operations = {
  workspace,
  authTokens,
  organizations,
} satisfies Record<string, Record<string, Operation>>

export type Operations = typeof operations
export type Family = keyof Operations

export * from './errors.ts'
export * from './operation.ts'
export * from './outcomes.ts'
export type { Organization } from './resources/organizations.ts'
export type { Workspace } from './resources/workspaces.ts'
