import Type from 'typebox'
import { emailAddress } from '../base/fields.ts'
import { operation } from '../base/operation.ts'
import { flag, text } from '../base/schemas.ts'
import { NoData } from '../resources/outcomes.ts'
import { OwnedWorkspace } from '../resources/workspaces.ts'

const tooMany = {
  status: 'RESOURCE_EXHAUSTED' as const,
  message: 'Rate limit exceeded for this endpoint. Try again later.',
}

export const email = {
  status: operation({
    spec: '1.10',
    path: '/workspace/email/status',
    versions: ['v2'],
    access: 'public',
    effect: 'read',
    rateLimit: 'loginLinks',
    title: 'Email Status',
    summary: 'Reads whether the email address of an owner is verified.',
    description:
      'Requires no credentials. The email address of an owner is verified as soon as a workspace exists.',
    input: Type.Object({ ownerEmail: emailAddress('Email address of the owner of a workspace.') }),
    output: Type.Object({ verified: flag('Whether the email address is verified.') }),
    message: 'Email verified and workspace reactivated',
    errors: [{ status: 'NOT_FOUND', message: 'User not found' }, tooMany],
    example: { input: { ownerEmail: 'owner@example.com' }, output: { verified: true } },
  }),
  sendLoginLink: operation({
    spec: '1.11',
    path: '/workspace/email/send-login-link',
    versions: ['v2'],
    access: 'public',
    effect: 'write',
    rateLimit: 'loginLinks',
    title: 'Send Login Link',
    summary: 'Sends a link to the owner of a workspace, which proves that the owner reads the mailbox.',
    description:
      'Requires no credentials. The link is `continueUrl` with `#login=<token>`. It works once, within 15 minutes: the page at `continueUrl` sends the token to Log In. The answer is the same whether the address belongs to an owner or not, and a link is sent only if it does. An address gets at most five links in an hour.',
    input: Type.Object({
      email: emailAddress('Email address of the owner of a workspace.'),
      continueUrl: Type.String({
        maxLength: 1000,
        description:
          'The page that the link opens, at `localhost` or at a host of the setting CONSOLE_HOSTS. Its fragment is replaced.',
      }),
    }),
    output: NoData,
    message: 'Login link sent successfully',
    errors: [
      { status: 'INVALID_ARGUMENT', message: 'Invalid url for continueUrl' },
      { status: 'INVALID_ARGUMENT', message: 'The continueUrl domain is not allowed.' },
      { status: 'INVALID_ARGUMENT', message: 'This email domain is not supported.' },
      tooMany,
    ],
    example: {
      input: { email: 'owner@example.com', continueUrl: 'http://localhost:3000/console/' },
      output: null,
    },
  }),
  login: operation({
    spec: '1.12',
    path: '/workspace/email/login',
    versions: ['v2'],
    access: 'public',
    effect: 'write',
    rateLimit: 'loginLinks',
    title: 'Log In',
    summary: 'Redeems the token of a login link.',
    description:
      'Requires no credentials. A success proves that the caller reads the mailbox of the owner, so the backend of your console can start a session. The token works once.',
    input: Type.Object({
      loginToken: Type.String({ maxLength: 100, description: 'The token after `#login=` in the link.' }),
    }),
    output: Type.Object({
      ownerEmail: text('Email address of the owner.'),
      workspaces: Type.Array(OwnedWorkspace, { description: 'The workspaces of the owner, oldest first.' }),
    }),
    message: 'Login successful',
    errors: [
      { status: 'UNAUTHENTICATED', message: 'This login link has been used or has expired.' },
      tooMany,
    ],
    example: {
      input: { loginToken: 'q7XH2fVtS0mZr9nKcLw4uYbE1dGjPo5aTi8sNvRk3Mx' },
      output: {
        ownerEmail: 'owner@example.com',
        workspaces: [{ workspaceId: 'ws_4f0m2k7c9x1b8d3q6z5w', name: 'My Workspace' }],
      },
    },
  }),
}
