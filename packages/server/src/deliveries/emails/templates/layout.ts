import { Html, html } from '../../../platform/html.ts'

/**
 * The colors of mails. Clients that know `prefers-color-scheme` use the dark ones. Outlook and Gmail use the inline styles,
 * and some of them compute dark colors of their own.
 */
const light = { page: '#f4f4f6', card: '#ffffff', ink: '#1b1c22', muted: '#646873', line: '#e4e5ea' }
const dark = { page: '#111216', card: '#1b1d23', ink: '#f2f3f5', muted: '#a3a8b4', line: '#32353f' }
const accent = '#4b45d6'

const fonts = "-apple-system,BlinkMacSystemFont,'Segoe UI',Roboto,Helvetica,Arial,sans-serif"

/** A size, a line height and a color, as an inline style. Outlook takes no font from the elements around. */
const text = (size: number, height: number, color: string, more = '') =>
  new Html(`margin:0;font-family:${fonts};font-size:${size}px;line-height:${height}px;color:${color};${more}`)

/** The styles of texts. Long words are broken, so that no mail is wider than a phone. */
const wrap = 'word-break:break-word;overflow-wrap:anywhere;'
export const styles = {
  title: text(22, 30, light.ink, `font-weight:600;${wrap}`),
  headline: text(16, 24, light.ink, wrap),
  words: text(20, 30, light.ink, wrap),
  smallWords: text(16, 24, light.ink, wrap),
  note: text(14, 21, light.muted, wrap),
  small: text(13, 20, light.muted, wrap),
  smallLink: new Html(`color:${light.muted};text-decoration:underline;`),
  link: new Html(`color:${accent};text-decoration:underline;`),
  quote: new Html(`border-left:3px solid ${light.line};padding:2px 0 2px 14px;`),
  line: new Html(`border-top:1px solid ${light.line};font-size:1px;line-height:1px;`),
}

const styleSheet = new Html(`
:root { color-scheme: light dark; supported-color-schemes: light dark }
a { text-decoration-skip-ink: auto }
@media (max-width: 480px) {
  .page { padding: 12px 8px !important }
  .card { padding: 24px 20px !important }
  .words { font-size: 19px !important; line-height: 28px !important }
}
@media (prefers-color-scheme: dark) {
  .page { background: ${dark.page} !important }
  .card { background: ${dark.card} !important; border-color: ${dark.line} !important }
  .ink { color: ${dark.ink} !important }
  .muted { color: ${dark.muted} !important }
  .line { border-color: ${dark.line} !important }
  .link { color: #a5a1ff !important }
}
`)

/** Makes clients show nothing but the preheader beside the subject: without it they add the first words of the mail. */
const filler = new Html('&#8199;&#65279;&#847; '.repeat(60))

export interface Page {
  title: string
  /** What the list of mails shows beside the subject. */
  preheader: string
  /** The name above the card. */
  brand: string
  body: Html
  footer: Html
}

/** The page around each mail: one card of at most 600 px, as tables, because Outlook knows no other layout. */
export const page = ({ title, preheader, brand, body, footer }: Page): string =>
  html`<!doctype html>
    <html lang="en" dir="ltr" xmlns="http://www.w3.org/1999/xhtml">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="supported-color-schemes" content="light dark" />
        <meta name="format-detection" content="telephone=no, date=no, address=no, email=no, url=no" />
        <title>${title}</title>
        <style>
          ${styleSheet}
        </style>
      </head>
      <body style="margin:0;padding:0;" bgcolor="${light.page}">
        <div style="display:none;max-height:0;overflow:hidden;mso-hide:all;">${preheader} ${filler}</div>
        <table
          role="presentation"
          width="100%"
          cellpadding="0"
          cellspacing="0"
          border="0"
          bgcolor="${light.page}"
          class="page"
          style="background:${light.page};padding:32px 16px;"
        >
          <tr>
            <td align="center">
              <!--[if mso]><table role="presentation" width="600" cellpadding="0" cellspacing="0" border="0"><tr><td><![endif]-->
              <table
                role="presentation"
                width="100%"
                cellpadding="0"
                cellspacing="0"
                border="0"
                style="max-width:600px;"
              >
                ${
                  brand === ''
                    ? undefined
                    : html`<tr>
                        <td style="padding:0 4px 14px;">
                          <p class="muted" style="${styles.small}"><b>${brand}</b></p>
                        </td>
                      </tr>`
                }
                <tr>
                  <td
                    class="card"
                    bgcolor="${light.card}"
                    style="background:${light.card};border:1px solid ${light.line};border-radius:14px;padding:32px;"
                  >
                    ${body}
                  </td>
                </tr>
                <tr>
                  <td style="padding:18px 4px 0;">${footer}</td>
                </tr>
              </table>
              <!--[if mso]></td></tr></table><![endif]-->
            </td>
          </tr>
        </table>
      </body>
    </html> `.text

/** Space between two elements. Outlook ignores margins. */
export const gap = (px: number): Html =>
  html`<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0">
    <tr>
      <td height="${px}" style="height:${px}px;font-size:1px;line-height:1px;">&nbsp;</td>
    </tr>
  </table>`

/** The whole cell has the color, so that clients without padding of links show a button too. */
export const button = (url: string, label: string): Html =>
  html`<table role="presentation" cellpadding="0" cellspacing="0" border="0">
    <tr>
      <td bgcolor="${accent}" style="background:${accent};border-radius:9px;">
        <a
          href="${url}"
          style="display:inline-block;padding:13px 22px;font-family:${new Html(fonts)};font-size:16px;line-height:20px;font-weight:600;color:#ffffff;text-decoration:none;border-radius:9px;"
          >${label}</a
        >
      </td>
    </tr>
  </table>`

const avatarColors = ['#4b45d6', '#0b7285', '#a6366f', '#2b7a3d', '#a4501b', '#5f3dc4'] as const

/** A circle with the picture or the initials of a person. Outlook shows a square. */
export function avatar(name: string, photoUrl: string | undefined, size: number): Html {
  const color = avatarColors[Buffer.from(name).reduce((sum, byte) => sum + byte, 0) % avatarColors.length]
  const box = new Html(`width:${size}px;height:${size}px;border-radius:${size / 2}px;`)
  const font = new Html(`font-family:${fonts};font-size:${Math.round(size * 0.4)}px;line-height:${size}px;`)
  if (photoUrl !== undefined) {
    return html`<img
      src="${photoUrl}"
      width="${size}"
      height="${size}"
      alt=""
      style="display:block;${box}object-fit:cover;border:0;"
    />`
  }
  return html`<table role="presentation" cellpadding="0" cellspacing="0" border="0">
    <tr>
      <td
        align="center"
        width="${size}"
        height="${size}"
        bgcolor="${color}"
        style="background:${color};${box}${font}font-weight:600;color:#ffffff;"
        aria-hidden="true"
      >
        ${initialsOf(name)}
      </td>
    </tr>
  </table>`
}

const characters = new Intl.Segmenter('en')

/** The first characters of the first and the last word. */
function initialsOf(name: string): string {
  const words = name.split(/[\s._@-]+/).filter(Boolean)
  return [words[0], words.length > 1 ? words.at(-1) : '']
    .map((word = '') => characters.segment(word).containing(0)?.segment.toUpperCase() ?? '')
    .join('')
}
