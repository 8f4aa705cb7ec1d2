import { ApiError, type Operations } from '@plenum/protocol'
import { readSettings, writeSettings } from '../access/credentials/service-settings.ts'
import type { Handlers } from '../calls/call.ts'
import { changeEmail, type EmailSettings, noEmailSettings, presentEmail } from './shared/email-settings.ts'

export const emailConfigHandlers: Handlers<Operations['emailConfig']> = {
  async get({ caller: { apiKey }, db, services: { secrets } }) {
    const stored: EmailSettings | undefined = await readSettings(db, secrets, apiKey, 'email')
    return presentEmail(stored ?? noEmailSettings)
  },

  async update({ input, caller: { apiKey }, db, services: { secrets } }) {
    if (input.useEmailService === undefined && input.emailServiceConfig === undefined) {
      throw new ApiError(
        'INVALID_ARGUMENT',
        'At least one of useEmailService or emailServiceConfig must be provided',
      )
    }
    const stored: EmailSettings | undefined = await readSettings(db, secrets, apiKey, 'email')
    await writeSettings(db, secrets, apiKey, 'email', changeEmail(stored ?? noEmailSettings, input))
    return null
  },
}
