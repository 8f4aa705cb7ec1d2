import { hash, randomBytes } from 'node:crypto'
import { ApiError, type Operations } from '@plenum/protocol'
import { newId } from '../access/ids.ts'
import type { Call, Handlers } from '../calls/call.ts'
import { sealLoginLink } from '../deliveries/emails/login-links.ts'
import * as jobs from '../store/jobs.ts'
import * as loginLinks from '../store/login-links.ts'
import * as workspaces from '../store/workspaces.ts'
import { readEmail } from './shared/new-key.ts'
import { isHttpUrl } from './shared/urls.ts'

/** Enough for an owner. Others cannot fill the mailbox of an owner with links. */
const maxLinksPerHour = 5

export const emailHandlers: Handlers<Operations['email']> = {
  async status({ input, db }) {
    const owned = await workspaces.listOfOwner(db, readEmail('ownerEmail', input.ownerEmail), 1)
    if (owned.length === 0) throw new ApiError('NOT_FOUND', 'User not found')
    return { verified: true }
  },

  async sendLoginLink(call) {
    const { input, db, now, services } = call
    const email = readEmail('email', input.email)
    const url = readContinueUrl(input.continueUrl, services.consoleHosts)
    if (services.isDisposable(email)) {
      throw new ApiError('INVALID_ARGUMENT', 'This email domain is not supported.')
    }
    if ((await loginLinks.countOfHour(db, email, now)) >= maxLinksPerHour) return null
    // A row is added for every address: otherwise the time of the answer would tell whether the address belongs to an owner.
    const token = randomBytes(32).toString('base64url')
    await loginLinks.add(db, { tokenHash: hash('sha256', token), email, now })
    const [workspace] = await workspaces.listOfOwner(db, email, 1)
    url.hash = `login=${token}`
    if (workspace) await queueLink(call, workspace.workspaceId, email, url.href)
    return null
  },

  async login({ input, db, now }) {
    const email = await loginLinks.redeem(db, hash('sha256', input.loginToken), now)
    const owned = email === undefined ? [] : await workspaces.listOfOwner(db, email, maxWorkspaces)
    if (email === undefined || owned.length === 0) {
      throw new ApiError('UNAUTHENTICATED', 'This login link has been used or has expired.')
    }
    return { ownerEmail: email, workspaces: owned }
  },
}

/** More than an owner has, unless LIMIT_WORKSPACES_PER_OWNER was raised. */
const maxWorkspaces = 1000

/**
 * Adds the job that sends the link. It has the id of the workspace in place of an API key, so a slow mail server delays no job
 * of an API key.
 */
async function queueLink(
  { db, now, services, afterCommit }: Call,
  workspaceId: string,
  email: string,
  url: string,
): Promise<void> {
  const expiresAt = now + loginLinks.validityMs
  const payload = { email, sealedUrl: sealLoginLink(services.secrets, email, url), expiresAt }
  await jobs.add(db, { jobId: newId('job'), apiKey: workspaceId, kind: 'email.loginLink', payload, now })
  afterCommit(() => services.wakeJobs(workspaceId))
}

function readContinueUrl(text: string, consoleHosts: readonly string[]): URL {
  const url = isHttpUrl(text) ? new URL(text) : undefined
  if (!url || url.username !== '' || url.password !== '') {
    throw new ApiError('INVALID_ARGUMENT', 'Invalid url for continueUrl')
  }
  if (!['localhost', ...consoleHosts].includes(url.hostname)) {
    throw new ApiError('INVALID_ARGUMENT', 'The continueUrl domain is not allowed.')
  }
  return url
}
