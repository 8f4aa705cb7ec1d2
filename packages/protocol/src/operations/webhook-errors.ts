import type { ErrorExample } from '../base/operation.ts'

const enable = 'via POST /v2/workspace/advancedwebhookconfig/update with { "isEnabled": true }.'

/** The advanced webhooks of the API key were never enabled. */
export const notConfigured = {
  status: 'FAILED_PRECONDITION',
  message: `Advanced webhooks are not configured for this workspace. Enable them first ${enable}`,
} as const satisfies ErrorExample

/** The advanced webhooks of the API key are off. */
export const notEnabled = {
  status: 'FAILED_PRECONDITION',
  message: `Advanced webhooks are disabled for this workspace. Enable them ${enable}`,
} as const satisfies ErrorExample

export const unknownEndpoint = {
  status: 'NOT_FOUND',
  message: 'Advanced webhook provider request failed.',
} as const satisfies ErrorExample
