import { html, type Html } from '../../../platform/html.ts'
import { styles } from './layout.ts'
import { webUrl } from './texts.ts'

export interface MailLinks {
  /** Where a recipient chooses what to receive. */
  unsubscribeUrl?: string | undefined
}

const label = 'Receive fewer mails, or none'

/** Why the recipient got the mail, and how to stop it. */
export function footerHtml(reason: string, { unsubscribeUrl }: MailLinks): Html {
  const url = webUrl(unsubscribeUrl)
  const link = url && html`<br /><a class="muted" href="${url}" style="${styles.smallLink}">${label}</a>`
  return html`<p class="muted" style="${styles.small}">${reason}${link}</p>`
}

export function footerText(reason: string, { unsubscribeUrl }: MailLinks): string {
  const url = webUrl(unsubscribeUrl)
  return ['--', reason, ...(url === undefined ? [] : [`${label}: ${url}`])].join('\n')
}
