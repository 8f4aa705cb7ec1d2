import { cutText } from '../../../platform/cut-text.ts'
import type { ActivityContent, MailItem, MailRecipient, RenderedMail } from '../mail-content.ts'
import { footerHtml, footerText, type MailLinks } from './footer.ts'
import { html, type Html, withLineBreaks } from '../../../platform/html.ts'
import { avatar, button, gap, page, styles } from './layout.ts'
import { lines, oneLine, shownName, shownTime, webUrl } from './texts.ts'
import { type Action, actionOf, actionText, digestTitle, reasonFor, subjectOf, titleOf } from './wording.ts'

/** What does not fit is read in the application. */
const maxCommentCharacters = 2000
const maxEarlierCharacters = 300
const maxDigestCharacters = 500
const maxDigestItems = 20
const maxPreheaderCharacters = 140

/** An item with texts that are cut and cleaned. */
interface Shown {
  name: string
  photoUrl: string | undefined
  action: Action
  title: string
  time: string
  comment: string
  earlier: { author: string; text: string } | undefined
  replies: string | undefined
  url: string | undefined
}

function show(
  item: MailItem,
  content: ActivityContent,
  recipient: MailRecipient,
  maxCharacters: number,
): Shown {
  const { actor, commentText = '', earlierComment, commentsCount = 0 } = item
  const earlier = earlierComment && lines(earlierComment.text, maxEarlierCharacters)
  return {
    name: shownName(actor.name),
    photoUrl: webUrl(actor.photoUrl),
    action: actionOf(item, recipient),
    title: titleOf(item, content),
    time: shownTime(item.timestamp),
    comment: lines(commentText, maxCharacters),
    earlier: earlier ? { author: shownName(earlierComment?.author ?? ''), text: earlier } : undefined,
    replies: commentsCount > 1 ? `${Math.floor(commentsCount)} comments in this thread` : undefined,
    url: webUrl(item.pageUrl),
  }
}

/** A mail about one event, or a digest of several. */
export function renderActivity(
  content: ActivityContent,
  { recipient, ...links }: { recipient: MailRecipient } & MailLinks,
): RenderedMail {
  const subject = subjectOf(content, recipient)
  const reason = reasonFor(content, recipient)
  const isDigest = content.items.length > 1
  const maxCharacters = isDigest ? maxDigestCharacters : maxCommentCharacters
  const shown = (item: MailItem) => show(item, content, recipient, maxCharacters)
  const first = shown(content.items[0])
  const items = isDigest ? content.items.slice(0, maxDigestItems).map(shown) : [first]
  const left = content.items.length - items.length
  const preheader = isDigest
    ? items.map(({ name, action }) => `${name} ${actionText(action)}`).join(' · ')
    : first.comment.replaceAll('\n', ' ') || subject
  return {
    subject,
    html: page({
      title: subject,
      preheader: cutText(preheader, maxPreheaderCharacters),
      brand: oneLine(content.company),
      body: isDigest ? digestHtml(digestTitle(content), items, left) : eventHtml(first),
      footer: footerHtml(reason, links),
    }),
    text: [
      isDigest && digestTitle(content),
      ...items.map(itemText),
      left > 0 && `And ${left} more.`,
      footerText(reason, links),
    ]
      .filter(Boolean)
      .join('\n\n'),
  }
}

/** The picture of the actor beside who did what, and below it where and when. */
const heading = ({ name, photoUrl, action: { verb, object } }: Shown, below: Html, size: number): Html =>
  html`<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0">
    <tr>
      <td width="${size + 14}" valign="top" style="width:${size + 14}px;">${avatar(name, photoUrl, size)}</td>
      <td valign="middle">
        <p class="ink" style="${styles.headline}">
          <b>${name}</b> ${verb} ${object && html`<b>${object}</b>`}
        </p>
        ${below}
      </td>
    </tr>
  </table>`

const quote = (author: string, text: string): Html =>
  html`<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0">
    <tr>
      <td class="line" style="${styles.quote}">
        <p class="muted" style="${styles.note}"><b>${author}</b><br />${withLineBreaks(text)}</p>
      </td>
    </tr>
  </table>`

function eventHtml(item: Shown): Html {
  const { title, time, comment, earlier, replies, url } = item
  const where = html`<p class="muted" style="${styles.note}">${title} · ${time}</p>`
  return html`${heading(item, where, 44)} ${earlier && html`${gap(22)}${quote(earlier.author, earlier.text)}`}
  ${
    comment &&
    html`${gap(20)}
      <p class="ink words" style="${styles.words}">${withLineBreaks(comment)}</p>`
  }
  ${url && html`${gap(26)}${button(url, 'Open the comment')}`}
  ${
    replies &&
    html`${gap(16)}
      <p class="muted" style="${styles.small}">${replies}</p>`
  }`
}

const separator = html`${gap(22)}
  <table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0">
    <tr>
      <td class="line" style="${styles.line}">&nbsp;</td>
    </tr>
  </table>
  ${gap(21)}`

function digestHtml(title: string, items: readonly Shown[], left: number): Html {
  const hasTitles = new Set(items.map((item) => item.title)).size > 1
  const parts = items.map((item) => {
    const { comment, time, url } = item
    const where = hasTitles ? `${item.title} · ${time}` : time
    const below = html`<p class="muted" style="${styles.small}">${where}</p>`
    const link = (to: string) =>
      html`<a class="link" href="${to}" style="${styles.link}">Open the comment</a>`
    return html`${separator}${heading(item, below, 36)}
    ${
      comment &&
      html`${gap(12)}
        <p class="ink" style="${styles.smallWords}">${withLineBreaks(comment)}</p>`
    }
    ${
      url &&
      html`${gap(10)}
        <p style="${styles.note}">${link(url)}</p>`
    }`
  })
  const rest = left > 0 ? `And ${left} more.` : ''
  return html`<h1 class="ink" style="${styles.title}">${title}</h1>
    ${parts}${
      rest &&
      html`${separator}
        <p class="muted" style="${styles.note}">${rest}</p>`
    }`
}

function itemText({ name, action, title, time, comment, earlier, url }: Shown): string {
  const quoted = (text: string) => text.replaceAll(/^/gm, '> ')
  return [
    `${name} ${actionText(action)} on ${title}\n${time}`,
    earlier && `${earlier.author} wrote before:\n${quoted(earlier.text)}`,
    comment,
    url && `Open the comment: ${url}`,
  ]
    .filter(Boolean)
    .join('\n\n')
}
