import type { UnsubscribeChoice } from '../../deliveries/emails/unsubscribe.ts'
import { cutText } from '../../platform/cut-text.ts'
import { type Html, html } from '../../platform/html.ts'

/** The names that the page shows. The document is not named: by now the reader may have lost access to it. */
export interface Names {
  email: string
  organization: string
}

const maxNameCharacters = 100

const style = html`
  :root { color-scheme: light dark; } body { margin: 0; background: light-dark(#f4f4f6, #111216); color:
  light-dark(#1b1c22, #f2f3f5); font: 17px/1.5 system-ui, sans-serif; } main { max-width: 30rem; margin: 12vh
  auto 2rem; padding: 2rem; border-radius: 14px; box-sizing: border-box; background: light-dark(#fff,
  #1b1d23); border: 1px solid light-dark(#e4e5ea, #32353f); overflow-wrap: anywhere; } h1 { font-size:
  1.35rem; line-height: 1.3; margin: 0 0 .5rem; } p { margin: 0 0 1.25rem; color: light-dark(#5b5f6a,
  #a3a8b4); } button { display: block; width: 100%; margin: .6rem 0 0; padding: .8rem 1rem; font: inherit;
  text-align: left; cursor: pointer; color: inherit; background: transparent; border: 1px solid
  light-dark(#c9cbd3, #4a4e5a); border-radius: 9px; } button:hover { border-color: light-dark(#4b45d6,
  #a5a1ff); } button:focus-visible { outline: 3px solid light-dark(#4b45d6, #a5a1ff); outline-offset: 2px; }
  @media (max-width: 34rem) { main { margin: 1rem; padding: 1.5rem; } }
`

const page = (title: string, body: Html): string =>
  html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        <title>${title}</title>
        <link rel="icon" href="data:," />
        <style>
          ${style}
        </style>
      </head>
      <body>
        <main>
          <h1>${title}</h1>
          ${body}
        </main>
      </body>
    </html>`.text

/** A page that only says something. */
export const textPage = (title: string, text: string): string => page(title, html`<p>${text}</p>`)

/** The form with the choices. `chosen`: the choice that was just stored. */
export function choicesPage({ email, organization: name }: Names, chosen?: UnsubscribeChoice): string {
  const organization = cutText(name, maxNameCharacters)
  const labels: Record<UnsubscribeChoice, string> = {
    mine: 'Only what involves me in this document',
    document: 'Nothing from this document',
    organization: `No emails from ${organization} any more`,
    allOfDocument: 'Everything from this document again',
    allOfOrganization: `Everything from ${organization} again`,
  }
  const done: Record<UnsubscribeChoice, string> = {
    mine: 'You now get emails only about what involves you in this document.',
    document: 'You get no more emails about this document.',
    organization: `You get no more emails from ${organization}.`,
    allOfDocument: 'You get all emails about this document again.',
    allOfOrganization: `You get all emails from ${organization} again.`,
  }
  const undo = chosen === 'organization' ? 'allOfOrganization' : 'allOfDocument'
  const isReduced = chosen === 'mine' || chosen === 'document' || chosen === 'organization'
  const offered = (['mine', 'document', 'organization'] as const).filter((choice) => choice !== chosen)
  const buttons = [...offered, ...(isReduced ? [undo] : [])].map(
    (choice) => html`<button name="choice" value="${choice}">${labels[choice as UnsubscribeChoice]}</button>`,
  )
  const title = chosen ? done[chosen] : 'Which emails do you want?'
  const about =
    email === '' ? 'You can change this at any time.' : `This is about emails to ${masked(email)}.`
  return page(
    title,
    html`<p role="status">${about}</p>
      <form method="post">${buttons}</form>`,
  )
}

/** `g…@example.com`: whoever gets a forwarded mail does not learn the address. */
function masked(email: string): string {
  const at = email.lastIndexOf('@')
  return at <= 0 ? 'your address' : `${email.slice(0, 1)}…${email.slice(at)}`
}
