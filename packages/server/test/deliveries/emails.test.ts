import { describe, expect, test } from 'vitest'
import { stores } from '../support/harness.ts'
import { useMailServer } from './mail-scene.ts'
import { documentId, organizationId, ref } from './scene.ts'

const pageInfo = { url: 'https://app.example.com/plan', title: 'Launch plan' }

describe.each(stores)('deliveries of emails on %s', (store) => {
  const { server, refused, mailScene } = useMailServer(store)

  test('[3.3] a comment is mailed with what was said, by whom, where, and a link to it', async () => {
    const { addThread, mailsTo, addressOf, expectOne } = await mailScene()
    await addThread('a1', 'Please check the table, {{grace}}.', { pageInfo })
    await expect.poll(() => mailsTo('grace').length).toBe(1)
    const [received] = mailsTo('grace')
    const { mail, sender } = received ?? { mail: undefined, sender: '' }
    expect(sender).toBe('hello@acme.example')
    expect(mail?.from).toEqual({ name: 'The ada via Acme', address: 'hello@acme.example' })
    expect(mail?.to).toEqual([{ name: 'The grace', address: addressOf('grace') }])
    expect(mail?.replyTo).toEqual([{ name: 'The ada', address: addressOf('ada') }])
    expect(mail?.subject).toMatch(/The ada .*Launch plan/)
    for (const part of [mail?.text, mail?.html]) {
      expect(part).toContain('Please check the table, @The grace.')
      expect(part).toContain('https://app.example.com/plan')
    }
    await expectOne(
      { target: addressOf('grace') },
      { status: 'delivered', channel: 'email', userId: 'grace' },
    )
    expect(mailsTo('ada')).toEqual([])
  })

  test('[3.3] [3.4.5] each of the five triggers sends a mail of its own, and an event whose trigger is off sends none', async () => {
    const triggers = {
      'comment_annotation.add': false,
      'comment.add': true,
      'comment_annotation.status_change': true,
      'comment_annotation.assign': true,
      'comment_annotation.priority_change': true,
    }
    const { client, addThread, mailsTo, subjectsTo, setEmail } = await mailScene({ triggers })
    await setEmail(['ada', 'alan'], 'NONE')
    await addThread('a1', 'First {{grace}}', { pageInfo })
    const update = (updatedData: object) =>
      client.commentAnnotations.update({
        ...ref,
        annotationIds: ['a1'],
        updatedData,
        triggerNotification: true,
      })
    const steps = [
      () =>
        client.comments.add({
          ...ref,
          annotationId: 'a1',
          commentData: [{ commentText: 'A reply', from: { userId: 'ada' }, triggerNotification: true }],
        }),
      () => update({ status: { id: 'RESOLVED', name: 'Resolved', type: 'terminal' } }),
      () => update({ assignedTo: { userId: 'grace' } }),
      () => update({ priority: { id: 'P0', name: 'Urgent' } }),
    ]
    for (const [index, step] of steps.entries()) {
      await step()
      await expect.poll(() => mailsTo('grace').length).toBe(index + 1)
    }
    const subjects = subjectsTo('grace')
    expect(new Set(subjects).size).toBe(4)
    expect(subjects.join()).toMatch(/replied.*Resolved.*assigned.*Urgent/is)
    // A backend that changes an annotation names no user.
    const senders = mailsTo('grace').map(({ mail }) => mail.from?.name)
    expect(senders).toEqual(['The ada via Acme', 'Acme', 'Acme', 'Acme'])
  })

  test('[3.3] the preferences ALL, MINE and NONE of the document and the organization decide who gets a mail', async () => {
    const { client, addThread, mailsTo, setEmail, addUsers } = await mailScene()
    await addUsers('all', 'mine', 'involved', 'none', 'here')
    await setEmail(['mine', 'involved', 'ada', 'grace', 'alan'], 'MINE')
    await setEmail(['none', 'here'], 'NONE')
    await setEmail(['here'], 'ALL', [documentId])
    await addThread('a1', 'For {{involved}} and {{none}}.')
    for (const userId of ['all', 'involved', 'here']) await expect.poll(() => mailsTo(userId).length).toBe(1)
    const addressed = (await client.deliveries.get({ channel: 'email' })).data.map(({ userId }) => userId)
    expect(addressed.toSorted()).toEqual(['all', 'here', 'involved'])
  })

  test('[3.3] a user who may not see the annotation, has no address, or has unsubscribed gets no mail', async () => {
    const { client, addThread, mailsTo, addUsers } = await mailScene()
    await addUsers('outsider')
    await client.users.add({ organizationId, users: [{ userId: 'silent', name: 'No address' }] })
    await addThread('seen', 'Hello', { assignedTo: { userId: 'grace' } })
    for (const userId of ['grace', 'alan']) await expect.poll(() => mailsTo(userId).length).toBe(1)
    await client.commentAnnotations.subscribe({
      ...ref,
      annotationId: 'seen',
      userId: 'alan',
      subscribed: false,
    })
    await expect.poll(() => mailsTo('alan').length).toBe(1)
    await client.comments.add({
      ...ref,
      annotationId: 'seen',
      commentData: [{ commentText: 'Again', from: { userId: 'ada' }, triggerNotification: true }],
    })
    await expect.poll(() => mailsTo('grace').length).toBe(2)
    await addThread('private', 'Only for {{grace}}', {
      visibility: { type: 'restricted', userIds: ['grace'] },
    })
    await expect.poll(() => mailsTo('grace').length).toBe(3)
    await expect.poll(() => mailsTo('outsider').length).toBe(2)
    expect(mailsTo('alan')).toHaveLength(1)
  })

  test('[3.3.1] a batch becomes one digest for each recipient', async () => {
    const { client, apiKey, addThread, mailsTo, setEmail } = await mailScene()
    await setEmail(['alan'], 'MINE')
    const batch = { isEnabled: true, batchWindowSeconds: 60, maxActivities: 50 }
    await client.notificationServiceConfig.update({
      notificationServiceConfig: { batchConfig: { document: batch } },
    })
    await addThread('a1', 'One')
    await addThread('a2', 'Two for {{alan}}')
    await addThread('a3', 'Three')
    const collected = server.database.read
      .selectFrom('jobs')
      .select('job_id')
      .where('api_key', '=', apiKey)
      .where('kind', '=', 'notification.deliver')
      .where('run_at', '>', Date.now() + server.clock.offsetMs + 10_000)
    await expect.poll(async () => (await collected.execute()).length).toBe(3)
    expect((await client.notifications.get({ organizationId, userId: 'grace' })).data).toEqual([])
    server.clock.offsetMs += 61_000
    await expect.poll(() => mailsTo('grace').length).toBe(1)
    const [digest] = mailsTo('grace')
    for (const text of ['One', 'Two for @The alan', 'Three']) expect(digest?.mail.text).toContain(text)
    await expect.poll(() => mailsTo('alan').length).toBe(1)
    expect(mailsTo('alan')[0]?.mail.text).toContain('Two')
    expect(mailsTo('alan')[0]?.mail.text).not.toContain('Three')
    expect((await client.deliveries.get({ channel: 'email' })).data).toHaveLength(2)
  })

  test('[3.3.1] a delayed mail is not sent to a user who has seen the annotation meanwhile', async () => {
    const { client, addThread, mailsTo } = await mailScene()
    await client.notificationServiceConfig.update({
      notificationServiceConfig: { delayConfig: { isEnabled: true, delaySeconds: 60 } },
    })
    await addThread('a1', 'Seen soon')
    await client.commentAnnotations.markViewed({ ...ref, annotationIds: ['a1'], userId: 'grace' })
    server.clock.offsetMs += 61_000
    await expect.poll(() => mailsTo('alan').length).toBe(1)
    expect(mailsTo('grace')).toEqual([])
  })

  test('[3.3.2] [24.21.5] a refused recipient is not tried again, is shown and is logged without the address, and a mail server that is busy is tried later', async () => {
    const { addThread, addressOf, expectOne, mailsTo, loggedFailures } = await mailScene()
    refused.set(addressOf('grace'), 550).set(addressOf('alan'), 451)
    await addThread('a1')
    await expectOne({ target: addressOf('grace') }, { status: 'failed', attempts: 1, lastStatusCode: 550 })
    await expect.poll(() => loggedFailures()).toMatchObject([{ channel: 'email', code: 550 }])
    expect(server.logged.join()).not.toContain(addressOf('grace'))
    await expectOne({ target: addressOf('alan') }, { status: 'pending', lastStatusCode: 451 })
    refused.delete(addressOf('alan'))
    server.clock.offsetMs += 3 * 60 * 60 * 1000
    await expectOne({ target: addressOf('alan') }, { status: 'delivered' })
    expect(mailsTo('alan')).toHaveLength(1)
    expect(mailsTo('grace')).toEqual([])
  })

  test('[3.3.3] the link in a mail unsubscribes the user with one click, and pending mails are cancelled', async () => {
    const { client, addThread, addressOf, mailsTo } = await mailScene()
    await addThread('a1')
    await expect.poll(() => mailsTo('grace').length).toBe(1)
    const headers = new Map(mailsTo('grace')[0]?.mail.headers.map(({ key, value }) => [key, value]))
    expect(headers.get('list-unsubscribe-post')).toBe('List-Unsubscribe=One-Click')
    const link = new URL(headers.get('list-unsubscribe')?.slice(1, -1) ?? '')
    expect(link.origin).toBe('https://plenum.example.com')
    refused.set(addressOf('grace'), 451)
    await addThread('a2')
    await expect
      .poll(async () => (await client.deliveries.get({ target: addressOf('grace'), status: 'pending' })).data)
      .toMatchObject([{ attempts: 1 }])
    const clicked = await fetch(`${server.url}${link.pathname}`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: 'List-Unsubscribe=One-Click',
    })
    expect(clicked.status).toBe(200)
    const { data } = await client.notifications.getConfig({
      organizationId,
      userId: 'grace',
      documentIds: [documentId],
    })
    expect(data).toMatchObject([{ config: { email: 'NONE' } }])
    refused.delete(addressOf('grace'))
    server.clock.offsetMs += 6_000
    await expect
      .poll(
        async () => (await client.deliveries.get({ target: addressOf('grace'), status: 'cancelled' })).data,
      )
      .toHaveLength(1)
    expect(mailsTo('grace')).toHaveLength(1)
  })

  test('[3.3.4] turning the email service off cancels mails that are pending', async () => {
    const { client, addThread, addressOf, expectOne } = await mailScene()
    refused.set(addressOf('grace'), 451).set(addressOf('alan'), 451)
    await addThread('a1')
    await expectOne({ target: addressOf('grace') }, { status: 'pending', lastStatusCode: 451 })
    await client.emailConfig.update({ useEmailService: false })
    // Later than the next attempt, whichever that is on a slow machine.
    server.clock.offsetMs += 3 * 60 * 60 * 1000
    await expectOne(
      { target: addressOf('grace') },
      { status: 'cancelled', lastError: 'The email service is off.' },
    )
  })
})
