// Derived from the operation table by "npm run derive". Do not edit.
import type { CallOptions, Result } from '../platform/call.ts'

export interface OwnedWorkspace {
  /** Id of the workspace. */
  workspaceId: string
  /** Display name of the workspace. */
  name: string
}

export interface EmailStatusInput {
  /** Email address of the owner of a workspace. At most 320 characters. */
  ownerEmail: string
}

export interface EmailStatusOutput {
  /** Whether the email address is verified. */
  verified: boolean
}

export interface EmailSendLoginLinkInput {
  /** Email address of the owner of a workspace. At most 320 characters. */
  email: string
  /**
   * The page that the link opens, at `localhost` or at a host of the setting CONSOLE_HOSTS. Its fragment is
   * replaced. At most 1,000 characters.
   */
  continueUrl: string
}

export interface EmailLoginInput {
  /** The token after `#login=` in the link. At most 100 characters. */
  loginToken: string
}

export interface EmailLoginOutput {
  /** Email address of the owner. */
  ownerEmail: string
  /** The workspaces of the owner, oldest first. */
  workspaces: OwnedWorkspace[]
}

/** Links by email, with which the owner of a workspace logs in to a console. */
export interface EmailOperations {
  /**
   * Reads whether the email address of an owner is verified. Requires no credentials. The email address of an
   * owner is verified as soon as a workspace exists.
   *
   * `POST /v2/workspace/email/status`
   */
  status(input: EmailStatusInput, options?: CallOptions): Promise<Result<EmailStatusOutput>>
  /**
   * Sends a link to the owner of a workspace, which proves that the owner reads the mailbox. Requires no
   * credentials. The link is `continueUrl` with `#login=<token>`. It works once, within 15 minutes: the page
   * at `continueUrl` sends the token to Log In. The answer is the same whether the address belongs to an
   * owner or not, and a link is sent only if it does. An address gets at most five links in an hour.
   *
   * `POST /v2/workspace/email/send-login-link`
   */
  sendLoginLink(input: EmailSendLoginLinkInput, options?: CallOptions): Promise<Result<null>>
  /**
   * Redeems the token of a login link. Requires no credentials. A success proves that the caller reads the
   * mailbox of the owner, so the backend of your console can start a session. The token works once.
   *
   * `POST /v2/workspace/email/login`
   */
  login(input: EmailLoginInput, options?: CallOptions): Promise<Result<EmailLoginOutput>>
}
