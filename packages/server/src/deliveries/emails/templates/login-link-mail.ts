import type { LoginLinkContent, RenderedMail } from '../mail-content.ts'
import { html } from '../../../platform/html.ts'
import { button, gap, page, styles } from './layout.ts'
import { webUrl } from './texts.ts'

/** A mail with a link that signs the owner of a workspace in (spec 1.11). */
export function renderLoginLink({ url: link, minutes }: LoginLinkContent): RenderedMail {
  const url = webUrl(link)
  if (url === undefined) throw new Error('The login link is no web address.')
  const { host } = new URL(url)
  const subject = `Your sign-in link for ${host}`
  const validity = `The link works once, within ${minutes} minutes.`
  const ignore = 'If you did not ask for it, ignore this mail: nobody can sign in without the link.'
  const reason = `Somebody entered this email address at ${host}.`
  return {
    subject,
    html: page({
      title: subject,
      preheader: validity,
      brand: 'Plenum',
      body: html`<h1 class="ink" style="${styles.title}">Sign in to ${host}</h1>
        ${gap(10)}
        <p class="ink" style="${styles.headline}">${validity} ${ignore}</p>
        ${gap(24)}${button(url, 'Sign in')} ${gap(24)}
        <p class="muted" style="${styles.small}">
          If the button does not work, open this address:<br /><a
            class="link"
            href="${url}"
            style="${styles.link}"
            >${url}</a
          >
        </p>`,
      footer: html`<p class="muted" style="${styles.small}">${reason}</p>`,
    }),
    text: [`Sign in to ${host}:\n${url}`, `${validity} ${ignore}`, `--\n${reason}`].join('\n\n'),
  }
}
