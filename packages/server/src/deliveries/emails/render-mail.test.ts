import { describe, expect, test } from 'vitest'
import type { MailItem } from './mail-content.ts'
import { renderMail } from './render-mail.ts'
import { activity, recipient } from '../../../test/support/receivers/mails.ts'

const links = { unsubscribeUrl: 'https://plenum.example.com/unsubscribe/token' }
const render = (...items: Partial<MailItem>[]) => renderMail(activity(...items), { recipient, ...links })

describe('mails', () => {
  test('[3.4] a mail says who did what where, shows the comment and the one before it, and has one button', () => {
    const { html, text } = render()
    for (const words of [
      'Ada Lovelace',
      'replied',
      'Launch plan',
      'Please check the table.',
      'Is it ready?',
    ]) {
      expect(html).toContain(words)
      expect(text).toContain(words)
    }
    expect(html.match(/>Open the comment</g)).toHaveLength(1)
    expect(html).toContain('href="https://app.example.com/launch?thread=a1&amp;x=%221%22"')
    expect(text).toContain('Open the comment: https://app.example.com/launch?thread=a1&x=%221%22')
    expect(html).toContain('18 Nov 2026, 09:41 UTC')
  })

  test.each([
    undefined,
    '',
    'not a url',
    'javascript:alert(1)',
    'data:text/html,x',
    '//example.com',
    `https://x.com/${'x'.repeat(2000)}`,
  ])('[3.4] a mail has no button if the URL of the page is %s', (pageUrl) => {
    const { html, text } = render({ pageUrl })
    expect(html + text).not.toContain('Open the comment')
  })

  test.each<[string, Partial<MailItem>]>([
    ['Ada Lovelace mentioned you on Launch plan', { mentionedUserIds: ['x', 'grace'] }],
    ['Ada Lovelace commented on Launch plan', { event: 'comment_annotation.add' }],
    ['Ada Lovelace replied on Launch plan', { mentionedUserIds: ['x'] }],
    [
      'Ada Lovelace changed the status to Resolved on Launch plan',
      { event: 'comment_annotation.status_change', status: 'Resolved', mentionedUserIds: ['grace'] },
    ],
    [
      'Ada Lovelace assigned a comment to you on Launch plan',
      { event: 'comment_annotation.assign', assignee: { userId: 'grace', name: 'Grace' } },
    ],
    [
      'Ada Lovelace assigned a comment to Alan on Launch plan',
      { event: 'comment_annotation.assign', assignee: { userId: 'alan', name: 'Alan' } },
    ],
    [
      'Ada Lovelace took over a comment on Launch plan',
      { event: 'comment_annotation.assign', assignee: { userId: 'ada', name: 'Ada' } },
    ],
    ['Ada Lovelace removed the assignee of a comment on Launch plan', { event: 'comment_annotation.assign' }],
    [
      'Ada Lovelace changed the priority to P0 on Launch plan',
      { event: 'comment_annotation.priority_change', priority: 'P0' },
    ],
    ['Ada Lovelace removed the priority on Launch plan', { event: 'comment_annotation.priority_change' }],
    ['Ada Lovelace reacted to a comment on Launch plan', { event: 'comment.reaction_add' }],
    ['Ada Lovelace changed a comment on Launch plan', { event: 'recorder.done' }],
    ['Someone replied on Launch plan', { actor: { name: '  ' }, pageTitle: undefined }],
  ])('[3.4.1] the subject is "%s"', (subject, item) => {
    expect(render(item).subject).toBe(subject)
  })

  test('[3.4.1] a subject names no document if neither the page nor the document has a title', () => {
    const content = { ...activity({ pageTitle: '' }), documentName: undefined }
    expect(renderMail(content, { recipient }).subject).toBe('Ada Lovelace replied on a document')
  })

  test.each<[string, Partial<MailItem>]>([
    ['You are mentioned in this comment.', { mentionedUserIds: ['grace'], authorId: 'grace' }],
    ['This comment is assigned to you.', { assignee: { userId: 'grace', name: 'Grace' } }],
    ['You started this thread.', { authorId: 'grace' }],
    ['You follow comments in Launch plan.', {}],
  ])('[3.4] a mail tells its recipient: %s', (reason, item) => {
    const { html, text } = render(item)
    expect(html).toContain(reason)
    expect(text).toContain(reason)
    expect(html).toContain(`href="${links.unsubscribeUrl}"`)
    expect(text).toContain(links.unsubscribeUrl)
  })

  test('[3.4.2] several comments are one digest, with all of them and one link for each', () => {
    const { subject, html, text } = render({}, { commentText: 'Second.' }, { commentText: 'Third.' })
    expect(subject).toBe('3 comments on Launch plan')
    for (const words of ['Please check the table.', 'Second.', 'Third.']) {
      expect(html).toContain(words)
      expect(text).toContain(words)
    }
    expect(html.match(/>Open the comment</g)).toHaveLength(3)
  })

  test('[3.4.2] the subject of a digest about several documents names the organization', () => {
    const { subject, html } = render({ event: 'comment_annotation.assign' }, { pageTitle: 'Budget' })
    expect(subject).toBe('2 updates in Acme Marketing')
    expect(html).toContain('Budget · 18 Nov 2026')
  })

  test('[3.4.2] a digest shows the first 20 changes and how many more there are', () => {
    const { subject, html, text } = render(
      ...Array.from({ length: 50 }, (_, index) => ({ commentText: `Number ${index}.` })),
    )
    expect(subject).toBe('50 comments on Launch plan')
    expect(html).toContain('Number 19.')
    expect(html).not.toContain('Number 20.')
    expect(html).toContain('And 30 more.')
    expect(text).toContain('And 30 more.')
  })

  test('[3.4.4] long texts are cut, and no character is cut in half', () => {
    const long = '😀'.repeat(25_000)
    const item: Partial<MailItem> = {
      commentText: long,
      earlierComment: { author: long, text: long },
      pageTitle: long,
      actor: { name: long, email: long, photoUrl: long },
      assignee: { name: long },
      status: long,
      priority: long,
    }
    for (const items of [[item], Array.from({ length: 50 }, () => item)]) {
      const { subject, html, text } = renderMail(
        { ...activity(...items), company: long, organizationName: long, documentName: long },
        { recipient: { email: long, name: long } },
      )
      expect(subject.length).toBeLessThanOrEqual(180)
      expect(Buffer.byteLength(html)).toBeLessThan(100_000)
      for (const part of [subject, html, text]) expect(Buffer.from(part).toString()).toBe(part)
    }
  })

  test('[3.4] line breaks of a comment stay, and three empty lines become one', () => {
    const { html, text } = render({ commentText: 'one\r\ntwo\n\n\n\n  three' })
    expect(html).toContain('one<br>two<br><br>three')
    expect(text).toContain('one\ntwo\n\nthree')
  })

  test('[3.4] the mail with a login link contains the link and for how long it is valid', () => {
    const url = 'https://console.example.com/#login=secret'
    const { subject, html, text } = renderMail({ kind: 'loginLink', url, minutes: 15 }, { recipient })
    expect(subject).toBe('Your sign-in link for console.example.com')
    expect(html).toContain(`href="${url}"`)
    expect(text).toContain(url)
    expect(text).toContain('The link works once, within 15 minutes.')
  })
})
