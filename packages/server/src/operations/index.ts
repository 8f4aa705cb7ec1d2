import type { AllHandlers } from '../handler.ts'
import { authTokenHandlers } from './auth-tokens.ts'
import { organizationHandlers } from './organizations.ts'
import { workspaceHandlers } from './workspace.ts'

/** The handler of every operation; one that is declared but not here does not compile. */
export const handlers: AllHandlers = {
  workspace: workspaceHandlers,
  authTokens: authTokenHandlers,
  organizations: organizationHandlers,
}
