import type { FastifyInstance, FastifyReply } from 'fastify'
import type { Secrets } from '../../access/credentials/secrets.ts'
import {
  isUnsubscribeChoice,
  unsubscribe,
  type UnsubscribeChoice,
} from '../../deliveries/emails/unsubscribe.ts'
import { readUnsubscribeToken, type UnsubscribeTarget } from '../../deliveries/emails/unsubscribe-tokens.ts'
import type { Database } from '../../store/engine/db.ts'
import * as organizations from '../../store/organizations.ts'
import * as users from '../../store/users/users.ts'
import { choicesPage, type Names, textPage } from './unsubscribe-page.ts'

interface UnsubscribeDeps {
  database: Database
  secrets: Secrets
}

/** A form has one field. */
const maxFormBytes = 4096

/** The token is a credential: no other site may learn it, and no search engine. */
const headers = {
  'content-security-policy':
    "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'x-robots-tag': 'noindex',
}

/** Adds the page behind the links in mails, and unsubscribing with one click (RFC 8058). */
export function mountUnsubscribe(app: FastifyInstance, { database, secrets }: UnsubscribeDeps): void {
  /** Undefined: the link is not valid, or the user was deleted. */
  const find = async (token: string) => {
    const target = readUnsubscribeToken(secrets, token)
    const names = target && (await namesOf(database, target))
    return names && { target, names }
  }
  const send = (reply: FastifyReply, page: string, status = 200) =>
    reply.code(status).headers(headers).type('text/html; charset=utf-8').send(page)
  const sendInvalid = (reply: FastifyReply) =>
    send(reply, textPage('This link is not valid', 'Use the link in a newer mail.'), 404)

  void app.register(async (scope) => {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', { parseAs: 'string', bodyLimit: maxFormBytes }, (_request, body, done) =>
      done(null, body),
    )

    // A wildcard, because Fastify limits the length of named parameters.
    scope.get<{ Params: { '*': string } }>('/unsubscribe/*', async ({ params }, reply) => {
      const found = await find(params['*'])
      return found ? send(reply, choicesPage(found.names)) : sendInvalid(reply)
    })

    scope.post<{ Params: { '*': string } }>('/unsubscribe/*', async ({ params, body }, reply) => {
      const found = await find(params['*'])
      if (!found) return sendInvalid(reply)
      const choice = choiceIn(typeof body === 'string' ? body : '')
      if (!choice) return send(reply, choicesPage(found.names), 400)
      await unsubscribe(database, found.target, choice)
      return send(reply, choicesPage(found.names, choice))
    })
  })
}

/** The choice of a form, or that of a mail program, which may send it as `multipart/form-data` too. */
function choiceIn(body: string): UnsubscribeChoice | undefined {
  const form = new URLSearchParams(body)
  const isOneClick =
    form.get('List-Unsubscribe') === 'One-Click' || /name="List-Unsubscribe"\s+One-Click\s/.test(body)
  const choice = isOneClick ? 'organization' : (form.get('choice') ?? '')
  return isUnsubscribeChoice(choice) ? choice : undefined
}

async function namesOf(
  { read }: Database,
  { apiKey, organizationId, userId }: UnsubscribeTarget,
): Promise<Names | undefined> {
  const [profiles, [organization]] = await Promise.all([
    users.findMany(read, apiKey, [userId]),
    organizations.findMany(read, apiKey, [organizationId]),
  ])
  const profile = profiles.get(userId)
  if (!profile) return undefined
  return {
    email: typeof profile.email === 'string' ? profile.email : '',
    organization: organization?.organizationName ?? organizationId,
  }
}
