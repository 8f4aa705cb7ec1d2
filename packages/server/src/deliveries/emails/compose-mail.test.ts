import { createTransport } from 'nodemailer'
import PostalMime, { type Email } from 'postal-mime'
import { describe, expect, test } from 'vitest'
import { composeMail, type MailRequest } from './compose-mail.ts'
import { mimeMessage } from './transports/mime-message.ts'
import { activity, mailItem, mailRequest, recipient } from '../../../test/support/receivers/mails.ts'

const hostile = [
  'x\r\nBcc: victim@example.com',
  'x\nBcc: victim@example.com\n\nbody',
  'x\rBcc: victim@example.com',
  'x\u2028Bcc: victim@example.com',
  'x\0y',
  '"><img src=x onerror=alert(1)>',
  "'><svg onload=alert(1)>",
  '<script>alert(1)</script>',
  '<!-- <style> </style>',
  '</title></style><a href="javascript:alert(1)">',
  'javascript:alert(1)',
  'https://x.com/" onclick="alert(1)',
  'https://x.com/\r\nBcc: victim@example.com',
  'x" <victim@example.com>, "y',
  'victim@example.com, other@example.com',
  'x <victim@example.com>',
  '=?utf-8?q?=0D=0ABcc:_victim=40example.com?=',
  '{{constructor}} ${7*7} <%= 7*7 %>',
  '\u202Egnp.exe',
  '\uD800',
  '__proto__',
  '<!--[if mso]><script><![endif]-->',
]

/** Every text that reaches a mail, and how a hostile one gets there. */
const fields: Record<string, (text: string) => Partial<MailRequest>> = {
  deliveryId: (text) => ({ deliveryId: text }),
  'recipient.name': (text) => ({ recipient: { ...recipient, name: text } }),
  'recipient.userId': (text) => ({ recipient: { ...recipient, userId: text } }),
  'settings.fromEmail': (text) => ({ settings: { fromEmail: text } }),
  'settings.fromCompany': (text) => ({ settings: { fromCompany: text } }),
  company: (text) => ({ content: { ...activity(), company: text } }),
  organizationName: (text) => ({
    content: { ...activity({}, { pageTitle: 'Other' }), organizationName: text },
  }),
  documentName: (text) => ({ content: { ...activity({ pageTitle: undefined }), documentName: text } }),
  event: (text) => ({ content: activity({ event: text as 'comment.add' }) }),
  'actor.name': (text) => ({ content: activity({ actor: { ...mailItem.actor, name: text } }) }),
  'actor.email': (text) => ({ content: activity({ actor: { name: 'Ada', email: text } }) }),
  'actor.photoUrl': (text) => ({ content: activity({ actor: { name: 'Ada', photoUrl: text } }) }),
  commentText: (text) => ({ content: activity({ commentText: text }) }),
  'earlierComment.author': (text) => ({ content: activity({ earlierComment: { author: text, text: 'x' } }) }),
  'earlierComment.text': (text) => ({ content: activity({ earlierComment: { author: 'x', text } }) }),
  annotationId: (text) => ({ content: activity({ annotationId: text }) }),
  pageTitle: (text) => ({ content: activity({ pageTitle: text }) }),
  pageUrl: (text) => ({ content: activity({ pageUrl: text }) }),
  status: (text) => ({
    content: activity({ event: 'comment_annotation.status_change', status: text }),
  }),
  priority: (text) => ({
    content: activity({ event: 'comment_annotation.priority_change', priority: text }),
  }),
  'assignee.name': (text) => ({
    content: activity({ event: 'comment_annotation.assign', assignee: { name: text } }),
  }),
  'a digest': (text) => ({
    content: activity(
      { commentText: text, pageTitle: text, pageUrl: text },
      { actor: { name: text, email: text, photoUrl: text } },
    ),
  }),
}

const composer = createTransport({ streamTransport: true, buffer: true, newline: 'windows' })

/** The mail as a mail program reads it. */
async function readerSees(request: MailRequest): Promise<Email> {
  const mail = composeMail(request, 'plenum@example.com')
  if (!mail) throw new Error('The recipient of the test has a valid address.')
  const { message } = await composer.sendMail(mimeMessage(mail))
  return PostalMime.parse(message as Buffer)
}

/** The elements of HTML, with the names of their attributes. Texts and values of attributes are left out. */
const structureOf = (html = '') =>
  [...html.matchAll(/<(!--|\/?[a-z][^\s>/]*)((?:[^>"]|"[^"]*")*)>/gi)].map(
    ([, name, attributes = '']) => `${name} ${attributes.replaceAll(/"[^"]*"/g, '""').trim()}`,
  )

const knownHeaders = new Set([
  'auto-submitted',
  'content-type',
  'date',
  'from',
  'in-reply-to',
  'list-unsubscribe',
  'list-unsubscribe-post',
  'message-id',
  'mime-version',
  'references',
  'reply-to',
  'subject',
  'to',
])

describe('[3.4.3] hostile texts in mails', () => {
  test.each(Object.keys(fields))(
    '[3.4.3] a hostile %s adds no header, no recipient and no HTML',
    async (field) => {
      for (const text of hostile) {
        const mail = await readerSees(mailRequest(fields[field]?.(text)))
        expect(mail.headers.map(({ key }) => key).filter((key) => !knownHeaders.has(key))).toEqual([])
        expect(mail.to?.map(({ address }) => address)).toEqual([recipient.email])
        expect(mail.from).toMatchObject({ address: expect.stringMatching(/^[^\s<>,"]+@[^\s<>,"]+$/) })
        expect(mail.replyTo?.length ?? 0).toBeLessThanOrEqual(1)
        expect(mail.bcc).toBeUndefined()
        expect(mail.cc).toBeUndefined()
        const elements = new Set(structureOf(mail.html).map((element) => element.split(' ')[0]))
        for (const forbidden of ['script', 'svg', 'iframe', '/script', 'form']) {
          expect(elements).not.toContain(forbidden)
        }
        expect(structureOf(mail.html).join('\n')).not.toMatch(/\bon\w+=/)
        // eslint-disable-next-line no-script-url
        expect(mail.html).not.toMatch(/(?:href|src)="(?!https?:)/)
        expect(mail.html?.match(/<title>/g)).toHaveLength(1)
        expect(mail.html?.match(/<\/style>/g)).toHaveLength(1)
        expect(mail.html?.match(/<!--/g)).toHaveLength(2)
        // oxlint-disable-next-line no-control-regex
        expect(mail.subject).not.toMatch(/[\u0000-\u001f\u202e]/)
      }
    },
  )

  test('[3.4.3] a text with HTML is shown as it was written', async () => {
    const commentText = '<b>bold</b> & "quoted" \'single\''
    const { html, text } = await readerSees(mailRequest({ content: activity({ commentText }) }))
    expect(html).toContain("&lt;b&gt;bold&lt;/b&gt; &amp; &quot;quoted&quot; 'single'")
    expect(text).toContain(commentText)
  })

  test.each([...hostile, '', 'nobody', 'a@b', 'a@example.com b@example.com'])(
    '[3.4.3] a recipient with the address %j gets no mail',
    (email) => {
      expect(composeMail(mailRequest({ recipient: { email } }), 'plenum@example.com')).toBeUndefined()
    },
  )
})
