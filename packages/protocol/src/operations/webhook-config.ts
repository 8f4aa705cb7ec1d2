import Type from 'typebox'
import { operation } from '../base/operation.ts'
import { described } from '../base/schemas.ts'
import { NoInput } from '../resources/outcomes.ts'
import {
  UseWebhookService,
  WebhookConfig,
  WebhookServiceConfigInput,
  webhookServiceDescription,
} from '../resources/service-configs.ts'
import { AdvancedWebhookConfig, AdvancedWebhookConfigInput } from '../resources/webhook-endpoints.ts'
import { notConfigured } from './webhook-errors.ts'

export const webhookConfig = {
  get: operation({
    spec: '24.10',
    path: '/workspace/webhookconfig/get',
    versions: ['v2'],
    access: 'apiKey',
    effect: 'read',
    body: 'optional',
    title: 'Get Webhook Config',
    summary: 'Reads the webhook settings of the API key.',
    description: 'The auth token is masked. Further settings are present once they were set.',
    input: NoInput,
    output: WebhookConfig,
    message: 'Webhook configuration retrieved successfully.',
    example: {
      input: {},
      output: {
        useWebhookService: false,
        webhookServiceConfig: { authToken: '', rawNotificationUrl: '', processedNotificationUrl: '' },
      },
    },
  }),
  update: operation({
    spec: '24.11',
    path: '/workspace/webhookconfig/update',
    versions: ['v2'],
    access: 'apiKey',
    effect: 'write',
    title: 'Update Webhook Config',
    summary: 'Changes the webhook settings of the API key.',
    description:
      'Sent fields are merged into the stored ones. The first call that enables the service enables the default triggers, unless this or an earlier call sends `triggers`: then only the triggers that were sent as true are on. The auth token is stored encrypted. Sending back the masked token keeps the stored token, and an empty string removes it.',
    input: Type.Object(
      {
        useWebhookService: Type.Optional(UseWebhookService),
        webhookServiceConfig: Type.Optional(described(WebhookServiceConfigInput, webhookServiceDescription)),
      },
      { 'x-conditions': { minProperties: 1 } },
    ),
    output: WebhookConfig,
    message: 'Webhook configuration updated successfully.',
    errors: [
      {
        status: 'INVALID_ARGUMENT',
        message: 'At least one of useWebhookService or webhookServiceConfig must be provided',
      },
      { status: 'INVALID_ARGUMENT', message: 'Invalid webhook service configuration.' },
    ],
    example: {
      input: {
        useWebhookService: true,
        webhookServiceConfig: {
          authToken: 'a-secret-of-your-own',
          rawNotificationUrl: 'https://example.com/hooks',
          triggers: { 'comment.add': true },
        },
      },
      output: {
        useWebhookService: true,
        webhookServiceConfig: {
          authToken: 'a-s...own',
          rawNotificationUrl: 'https://example.com/hooks',
          processedNotificationUrl: '',
          enableDataProtection: false,
          triggers: { 'comment.add': true },
        },
      },
    },
  }),
}

export const advancedWebhookConfig = {
  get: operation({
    spec: '24.12',
    path: '/workspace/advancedwebhookconfig/get',
    versions: ['v2'],
    access: 'apiKey',
    effect: 'read',
    body: 'optional',
    title: 'Get Advanced Webhook Config',
    summary: 'Reads the settings of the advanced webhooks of the API key.',
    input: NoInput,
    output: AdvancedWebhookConfig,
    message: 'Advanced webhook configuration retrieved successfully.',
    example: {
      input: {},
      output: {
        isEnabled: false,
        encodeData: false,
        encryptData: false,
        publicKey: '',
        enableDataProtection: false,
      },
    },
  }),
  update: operation({
    spec: '24.13',
    path: '/workspace/advancedwebhookconfig/update',
    versions: ['v2'],
    access: 'apiKey',
    effect: 'write',
    title: 'Update Advanced Webhook Config',
    summary: 'Changes the settings of the advanced webhooks of the API key.',
    description: 'Sent fields replace the stored ones. The first call must send `isEnabled: true`.',
    input: AdvancedWebhookConfigInput,
    output: AdvancedWebhookConfig,
    message: 'Advanced webhook configuration updated successfully.',
    errors: [
      {
        status: 'INVALID_ARGUMENT',
        message:
          'At least one of isEnabled, encryptData, encodeData, publicKey or enableDataProtection must be provided.',
      },
      { status: 'INVALID_ARGUMENT', message: 'publicKey must be an RSA public key in Base64.' },
      { status: 'INVALID_ARGUMENT', message: 'encryptData requires publicKey.' },
      notConfigured,
    ],
    example: {
      input: { isEnabled: true },
      output: {
        isEnabled: true,
        encodeData: false,
        encryptData: false,
        publicKey: '',
        enableDataProtection: false,
      },
    },
  }),
}
