import Type from 'typebox'
import { emailAddress, nonBlankName } from '../base/fields.ts'
import { operation } from '../base/operation.ts'
import { NoInput } from '../resources/outcomes.ts'
import { Workspace } from '../resources/workspaces.ts'

const workspaceExample = {
  id: 'ws_4f0m2k7c9x1b8d3q6z5w',
  name: 'My Workspace',
  owner: { email: 'owner@example.com', id: 'own_8s2n5v1k4j7h3g6f9d0a', name: 'John Doe', avatar: '' },
  authToken: 'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.e30.c2lnbmF0dXJl',
  apiKeyList: {
    key_1b8d3q6z5w4f0m2k7c9x: {
      apiKeyName: 'Owner Test API Key',
      id: 'key_1b8d3q6z5w4f0m2k7c9x',
      type: 'testing' as const,
    },
  },
}

export const workspace = {
  create: operation({
    spec: '1.1',
    path: '/workspace/create',
    versions: ['v2'],
    access: 'public',
    effect: 'write',
    rateLimit: 'createWorkspace',
    title: 'Create Workspace',
    summary: 'Creates a workspace with its first API key.',
    description:
      'Requires no credentials. The server limits how often a client address can call it, and refuses disposable email domains. Store `authToken`: the workspace-level operations require it.',
    input: Type.Object({
      ownerEmail: emailAddress('Email address of the owner.'),
      name: Type.Optional(nonBlankName('Display name of the owner. Default: the email address.')),
      workspaceName: Type.Optional(
        nonBlankName('Display name of the workspace. Default: derived from `name`.'),
      ),
      avatar: Type.Optional(Type.String({ maxLength: 2000, description: 'URL of a picture of the owner.' })),
    }),
    output: Workspace,
    message: 'Workspace created successfully',
    errors: [
      {
        status: 'PERMISSION_DENIED',
        message: 'Creating workspaces is closed on this server (WORKSPACE_CREATION).',
      },
      { status: 'INVALID_ARGUMENT', message: 'Disposable email domains are not allowed.' },
      { status: 'RESOURCE_EXHAUSTED', message: 'Rate limit exceeded for this endpoint. Try again later.' },
      {
        status: 'RESOURCE_EXHAUSTED',
        message: 'You have reached the maximum number of workspaces allowed for this email address.',
      },
    ],
    example: {
      input: { ownerEmail: 'owner@example.com', name: 'John Doe', workspaceName: 'My Workspace' },
      output: workspaceExample,
    },
  }),
  get: operation({
    spec: '1.2',
    path: '/workspace/get',
    versions: ['v2'],
    access: 'workspace',
    effect: 'read',
    title: 'Get Workspace',
    summary: 'Reads the workspace.',
    input: NoInput,
    output: Workspace,
    message: 'Workspace retrieved successfully',
    errors: [
      { status: 'NOT_FOUND', message: 'Workspace not found.' },
      { status: 'UNAUTHENTICATED', message: 'Invalid auth token for workspace.' },
    ],
    example: { input: {}, output: workspaceExample },
  }),
}
