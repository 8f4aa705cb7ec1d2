import Type from 'typebox'
import { operation } from '../base/operation.ts'
import { described } from '../base/schemas.ts'
import { NoData, NoInput } from '../resources/outcomes.ts'
import {
  EmailConfig,
  EmailServiceConfigInput,
  emailServiceDescription,
  UseEmailService,
} from '../resources/service-configs.ts'

export const emailConfig = {
  get: operation({
    spec: '3.1',
    path: '/workspace/emailconfig/get',
    versions: ['v2'],
    access: 'apiKey',
    effect: 'read',
    body: 'optional',
    title: 'Get Email Config',
    summary: 'Reads the email settings of the API key.',
    description: 'The API key of the mail provider is masked. `triggers` is present once it was set.',
    input: NoInput,
    output: EmailConfig,
    message: 'Email configuration retrieved successfully.',
    example: {
      input: {},
      output: {
        useEmailService: false,
        emailServiceConfig: {
          type: 'default',
          apiKey: '',
          fromEmail: '',
          fromCompany: '',
          commentTemplateId: '',
          tagTemplateId: '',
        },
      },
    },
  }),
  update: operation({
    spec: '3.2',
    path: '/workspace/emailconfig/update',
    versions: ['v2'],
    access: 'apiKey',
    effect: 'write',
    title: 'Update Email Config',
    summary: 'Changes the email settings of the API key.',
    description:
      'Sent fields are merged into the stored ones. The first call that enables the service enables the default triggers, unless this or an earlier call sends `triggers`: then only the triggers that were sent as true are on. The API key of the mail provider is stored encrypted. Sending back the masked key keeps the stored key, and an empty string removes it.',
    input: Type.Object(
      {
        useEmailService: Type.Optional(UseEmailService),
        emailServiceConfig: Type.Optional(described(EmailServiceConfigInput, emailServiceDescription)),
      },
      { 'x-conditions': { minProperties: 1 } },
    ),
    output: NoData,
    message: 'Email configuration updated successfully.',
    errors: [
      {
        status: 'INVALID_ARGUMENT',
        message: 'At least one of useEmailService or emailServiceConfig must be provided',
      },
      { status: 'INVALID_ARGUMENT', message: 'Invalid email service configuration.' },
    ],
    example: {
      input: {
        useEmailService: true,
        emailServiceConfig: {
          type: 'sendgrid',
          apiKey: 'SG.your-key',
          fromEmail: 'notifications@example.com',
          fromCompany: 'Acme',
          triggers: { 'comment_annotation.add': true, 'comment.add': false },
        },
      },
      output: null,
    },
  }),
}
