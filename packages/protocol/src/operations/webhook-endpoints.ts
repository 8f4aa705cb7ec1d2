import Type from 'typebox'
import { maxPageTokenLength } from '../base/limits.ts'
import { operation } from '../base/operation.ts'
import { flag } from '../base/schemas.ts'
import {
  EndpointId,
  EndpointSecret,
  EndpointUid,
  WebhookEndpoint,
  webhookEndpointFields,
  WebhookEndpointRef,
  WebhookUrl,
} from '../resources/webhook-endpoints.ts'
import { notConfigured, notEnabled, unknownEndpoint } from './webhook-errors.ts'

const endpointId = 'ep_1b8d3q6z5w4f0m2k7c9x'
const invalidUrl = { status: 'INVALID_ARGUMENT', message: 'url must be a valid http(s) URL.' } as const

const endpoint = {
  id: endpointId,
  url: 'https://example.com/hook',
  description: 'Primary',
  filterTypes: ['comment.add'],
  channels: null,
  disabled: false,
  rateLimit: null,
  uid: null,
  createdAt: '2026-06-01T10:15:30.000Z',
  updatedAt: '2026-06-01T10:15:30.000Z',
}

const secretExample = { endpointId, secret: 'whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=' }

const common = { versions: ['v2'], access: 'apiKey' } as const

export const webhookEndpoints = {
  create: operation({
    ...common,
    spec: '24.14',
    path: '/workspace/advancedwebhook/endpoints/create',
    effect: 'write',
    title: 'Create Webhook Endpoint',
    summary: 'Adds an endpoint of the advanced webhooks.',
    description:
      'The server generates the secret that signs deliveries. Get Webhook Endpoint Secret reads it.',
    input: Type.Object({ url: WebhookUrl, ...webhookEndpointFields, uid: EndpointUid }),
    output: WebhookEndpoint,
    message: 'Advanced webhook endpoint created successfully.',
    errors: [
      invalidUrl,
      { status: 'ALREADY_EXISTS', message: 'An endpoint with this uid already exists.' },
      {
        status: 'RESOURCE_EXHAUSTED',
        message: 'The API key has reached its maximum of 50 webhook endpoints.',
      },
      notConfigured,
      notEnabled,
    ],
    example: {
      input: { url: 'https://example.com/hook', description: 'Primary', filterTypes: ['comment.add'] },
      output: endpoint,
    },
  }),
  get: operation({
    ...common,
    spec: '24.15',
    path: '/workspace/advancedwebhook/endpoints/get',
    effect: 'read',
    title: 'Get Webhook Endpoints',
    summary: 'Reads the endpoints of the advanced webhooks, oldest first.',
    input: Type.Object({
      limit: Type.Optional(
        Type.Integer({ minimum: 1, maximum: 250, description: 'Maximum number of endpoints. Default: 50.' }),
      ),
      iterator: Type.Optional(
        Type.String({
          maxLength: maxPageTokenLength,
          description: 'Where to continue: the `iterator` of the previous answer.',
        }),
      ),
    }),
    output: Type.Object({
      endpoints: Type.Array(WebhookEndpoint, { description: 'The endpoints of this page.' }),
      iterator: Type.Union([Type.String(), Type.Null()], {
        description: 'Send it to read the next page. `null`: there is none.',
      }),
      prevIterator: Type.Null({ description: 'Always `null`: pages are read forward only.' }),
      done: flag('Whether this is the last page.'),
    }),
    message: 'Advanced webhook endpoints retrieved successfully.',
    errors: [{ status: 'INVALID_ARGUMENT', message: 'Invalid page token.' }, notConfigured, notEnabled],
    example: {
      input: { limit: 50 },
      output: { endpoints: [endpoint], iterator: null, prevIterator: null, done: true },
    },
  }),
  update: operation({
    ...common,
    spec: '24.16',
    path: '/workspace/advancedwebhook/endpoints/update',
    effect: 'write',
    title: 'Update Webhook Endpoint',
    summary: 'Changes an endpoint of the advanced webhooks.',
    description:
      'Fields that are not sent keep their value. Disabling an endpoint stops the attempts to deliver to it.',
    input: Type.Object(
      { endpointId: EndpointId, url: Type.Optional(WebhookUrl), ...webhookEndpointFields },
      { 'x-conditions': { minProperties: 2 } },
    ),
    output: WebhookEndpoint,
    message: 'Advanced webhook endpoint updated successfully.',
    errors: [
      {
        status: 'INVALID_ARGUMENT',
        message: 'At least one endpoint field besides endpointId must be provided.',
      },
      invalidUrl,
      unknownEndpoint,
      notConfigured,
      notEnabled,
    ],
    example: { input: { endpointId, disabled: true }, output: { ...endpoint, disabled: true } },
  }),
  delete: operation({
    ...common,
    spec: '24.17',
    path: '/workspace/advancedwebhook/endpoints/delete',
    effect: 'write',
    title: 'Delete Webhook Endpoint',
    summary: 'Deletes an endpoint of the advanced webhooks, with its secret.',
    description: 'Deliveries to the endpoint that are under way or waiting are given up.',
    input: WebhookEndpointRef,
    output: Type.Object({ endpointId: EndpointId, deleted: flag('Always true.') }),
    message: 'Advanced webhook endpoint deleted successfully.',
    errors: [unknownEndpoint, notConfigured, notEnabled],
    example: { input: { endpointId }, output: { endpointId, deleted: true } },
  }),
  getSecret: operation({
    ...common,
    spec: '24.18',
    path: '/workspace/advancedwebhook/endpoints/secret/get',
    effect: 'read',
    title: 'Get Webhook Endpoint Secret',
    summary: 'Reads the secret that signs deliveries to an endpoint.',
    input: WebhookEndpointRef,
    output: EndpointSecret,
    message: 'Advanced webhook endpoint secret retrieved successfully.',
    errors: [unknownEndpoint, notConfigured, notEnabled],
    example: { input: { endpointId }, output: secretExample },
  }),
  rotateSecret: operation({
    ...common,
    spec: '24.19',
    path: '/workspace/advancedwebhook/endpoints/secret/rotate',
    effect: 'write',
    title: 'Rotate Webhook Endpoint Secret',
    summary: 'Replaces the secret that signs deliveries to an endpoint.',
    description:
      'For 24 hours, deliveries are signed with the new secret and with the one before it. Another rotation in that time ends the older one.',
    input: WebhookEndpointRef,
    output: EndpointSecret,
    message: 'Advanced webhook endpoint secret rotated successfully.',
    errors: [unknownEndpoint, notConfigured, notEnabled],
    example: { input: { endpointId }, output: secretExample },
  }),
}
