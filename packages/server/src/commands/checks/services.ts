import type { Config } from '../../config.ts'
import { type Finding, failed, ok } from './check.ts'

const timeoutMs = 5000

export async function checkRedis(url: string | undefined): Promise<Finding[]> {
  if (url === undefined || url.trim() === '') return []
  const { Redis } = await import('ioredis')
  const redis = new Redis(url, {
    lazyConnect: true,
    connectTimeout: timeoutMs,
    commandTimeout: timeoutMs,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
  })
  // Errors of the connection are thrown by the calls below, too.
  let reason: string | undefined
  redis.on('error', (error: Error) => (reason = error.message))
  try {
    await redis.connect()
    await redis.ping()
    return [ok('redis', 'answers')]
  } catch (error) {
    return [failed('redis', `does not answer: ${reason ?? (error as Error).message}`, 'Check REDIS_URL.')]
  } finally {
    redis.disconnect()
  }
}

export async function checkMail({ smtpUrl }: Config): Promise<Finding[]> {
  if (smtpUrl === undefined) return [ok('mail', 'mails are written to files, because SMTP_URL is not set')]
  const { createTransport } = await import('nodemailer')
  const { smtpOptions } = await import('../../deliveries/emails/transports/smtp.ts')
  const transport = createTransport({
    ...smtpOptions(smtpUrl),
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
    dnsTimeout: timeoutMs,
  })
  try {
    await transport.verify()
    return [ok('mail', 'the mail server accepts the connection and the login')]
  } catch (error) {
    return [failed('mail', `the mail server cannot be used: ${(error as Error).message}`, 'Check SMTP_URL.')]
  } finally {
    transport.close()
  }
}
