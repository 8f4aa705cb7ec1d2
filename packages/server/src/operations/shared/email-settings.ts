import {
  ApiError,
  defaultTriggers,
  type EmailConfig,
  type Input,
  type Operations,
  toDotted,
  type Triggers,
} from '@plenum/protocol'
import { normalizeEmail } from '../../access/domains/emails.ts'
import { changedCredential, mask, type ServiceSettings } from '../../access/credentials/service-settings.ts'

type Change = Input<Operations['emailConfig']['update']>

interface StoredConfig {
  type?: EmailConfig['emailServiceConfig']['type']
  fromEmail?: string
  fromCompany?: string
  commentTemplateId?: string
  tagTemplateId?: string
  triggers?: Triggers
}

export type EmailSettings = ServiceSettings<StoredConfig>

export const noEmailSettings: EmailSettings = { enabled: false, config: {}, credential: '' }

/**
 * Returns the settings after a change. Throws if they are invalid. Turning the service on for the first time without
 * triggers enables the default triggers (spec 3.2). `defaults: true` adds the default triggers to those that the caller
 * sent; `defaults: false` never adds them.
 */
export function changeEmail(
  stored: EmailSettings,
  change: Change,
  { defaults }: { defaults?: boolean } = {},
): EmailSettings {
  const { useEmailService, emailServiceConfig: sent = {} } = change
  const isFirstStart = (useEmailService ?? sent.type === 'custom') && stored.config.triggers === undefined
  const starts = isFirstStart && defaults !== false
  const enabled = starts || (useEmailService ?? stored.enabled)
  const seeded = starts && (defaults ?? sent.triggers === undefined) ? defaultTriggers.email : undefined
  const triggers =
    seeded || sent.triggers
      ? { ...seeded, ...stored.config.triggers, ...toDotted(sent.triggers ?? {}) }
      : stored.config.triggers
  const config = {
    ...(starts && { type: 'custom' as const }),
    ...stored.config,
    ...sentFields(sent),
    ...(triggers && { triggers }),
  }
  const credential = changedCredential(stored.credential, sent.apiKey)
  if (config.fromEmail && normalizeEmail(config.fromEmail) === null) throw invalid()
  if (enabled && config.type === 'sendgrid' && credential === '') throw invalid()
  return { enabled, config, credential }
}

const invalid = () => new ApiError('INVALID_ARGUMENT', 'Invalid email service configuration.')

/** The fields of the change that simply replace stored fields: not `apiKey`, `triggers` or unknown keys. */
function sentFields(sent: NonNullable<Change['emailServiceConfig']>): StoredConfig {
  const { type, fromEmail, fromCompany, commentTemplateId, tagTemplateId } = sent
  const fields = { type, fromEmail: fromEmail?.trim(), fromCompany, commentTemplateId, tagTemplateId }
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
}

/** The settings as callers read them. */
export function presentEmail({ enabled, config, credential }: EmailSettings): EmailConfig {
  return {
    useEmailService: enabled,
    emailServiceConfig: {
      type: config.type ?? 'default',
      apiKey: mask(credential),
      fromEmail: config.fromEmail ?? '',
      fromCompany: config.fromCompany ?? '',
      commentTemplateId: config.commentTemplateId ?? '',
      tagTemplateId: config.tagTemplateId ?? '',
      ...(config.triggers && { triggers: config.triggers }),
    },
  }
}
