import { html, type Html } from '../../../platform/html.ts'
import { styles } from './layout.ts'
import { webUrl } from './texts.ts'

/** Where a recipient chooses what to receive. */
export interface MailLinks {
  unsubscribeUrl?: string | undefined
  preferencesUrl?: string | undefined
}

const linksOf = ({ unsubscribeUrl, preferencesUrl }: MailLinks) =>
  [
    { label: 'Change what you receive', url: webUrl(preferencesUrl) },
    {
      label: preferencesUrl === undefined ? 'Receive fewer mails, or none' : 'Unsubscribe',
      url: webUrl(unsubscribeUrl),
    },
  ].flatMap(({ label, url }) => (url === undefined ? [] : { label, url }))

/** Why the recipient got the mail, and how to stop it. */
export function footerHtml(reason: string, links: MailLinks): Html {
  const shown = linksOf(links).map(
    ({ label, url }, index) =>
      html`${index === 0 ? html`<br />` : ' · '}<a class="muted" href="${url}" style="${styles.smallLink}"
          >${label}</a
        >`,
  )
  return html`<p class="muted" style="${styles.small}">${reason}${shown}</p>`
}

export const footerText = (reason: string, links: MailLinks): string =>
  ['--', reason, ...linksOf(links).map(({ label, url }) => `${label}: ${url}`)].join('\n')
