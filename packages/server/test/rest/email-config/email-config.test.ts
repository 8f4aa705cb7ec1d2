import { type AnyTriggers, defaultTriggers, type Triggers } from '@plenum/protocol'
import { describe, expect, test } from 'vitest'
import * as given from '../../support/given.ts'
import { stores, useServer } from '../../support/harness.ts'

const update = '/v2/workspace/emailconfig/update'
const invalid = {
  status: 400,
  body: { error: { status: 'INVALID_ARGUMENT', message: 'Invalid email service configuration.' } },
}
const unset = {
  type: 'default',
  apiKey: '',
  fromEmail: '',
  fromCompany: '',
  commentTemplateId: '',
  tagTemplateId: '',
}

describe.each(stores)('email config on %s', (store) => {
  const server = useServer(store)
  const tenant = async () => {
    const found = await given.tenant(server)
    return {
      ...found,
      change: (data: unknown) => server.post(update, { data }, found.headers),
      config: async () => (await found.client.emailConfig.get()).data,
    }
  }

  test('[0.1.2] get needs no body, and returns the defaults when nothing is stored', async () => {
    const { headers } = await tenant()
    expect(await server.post('/v2/workspace/emailconfig/get', '', headers)).toMatchObject({ status: 200 })
    const { body } = await server.post('/v2/workspace/emailconfig/get', { data: {} }, headers)
    expect(body).toEqual({
      result: {
        status: 'success',
        message: 'Email configuration retrieved successfully.',
        data: { useEmailService: false, emailServiceConfig: unset },
      },
    })
  })

  test('[0.2] get refuses an invalid API key', async () => {
    const { authToken } = await tenant()
    const headers = { 'x-svc-api-key': 'key_unknown', 'x-svc-auth-token': authToken }
    expect(await server.post('/v2/workspace/emailconfig/get', '', headers)).toMatchObject({
      status: 403,
      body: { error: { status: 'PERMISSION_DENIED', message: 'Invalid API key.' } },
    })
  })

  test('[4.2] update stores the configuration and returns null', async () => {
    const { change, config } = await tenant()
    const triggers = {
      'comment_annotation.add': true,
      'comment.add': true,
      'comment_annotation.status_change': false,
      'comment_annotation.assign': true,
      'comment_annotation.priority_change': false,
    }
    const sent = {
      type: 'sendgrid',
      apiKey: 'SG.1234567890abc',
      fromEmail: 'Notifications@example.com',
      fromCompany: 'Acme',
      commentTemplateId: 'd-1',
      tagTemplateId: 'd-2',
    }
    const { status, body } = await change({
      useEmailService: false,
      emailServiceConfig: { ...sent, triggers },
    })
    expect(status).toBe(200)
    expect(body).toEqual({
      result: { status: 'success', message: 'Email configuration updated successfully.', data: null },
    })
    expect(await config()).toEqual({
      useEmailService: false,
      emailServiceConfig: { ...sent, apiKey: 'SG....abc', triggers },
    })
  })

  test('[4.2] update accepts each of its fields alone', async () => {
    const { change, config } = await tenant()
    expect(await change({ emailServiceConfig: { fromCompany: 'Acme' } })).toMatchObject({ status: 200 })
    expect(await change({ useEmailService: true })).toMatchObject({ status: 200 })
    expect(await config()).toMatchObject({
      useEmailService: true,
      emailServiceConfig: { fromCompany: 'Acme' },
    })
  })

  test('[4.2] update requires at least one of its fields', async () => {
    const { change } = await tenant()
    for (const data of [{}, { unknown: true }]) {
      expect(await change(data)).toMatchObject({
        status: 400,
        body: {
          error: {
            status: 'INVALID_ARGUMENT',
            message: 'At least one of useEmailService or emailServiceConfig must be provided',
          },
        },
      })
    }
  })

  test.each<[fault: string, config: unknown]>([
    ['a configuration that is not an object', 'on'],
    ['null as the configuration', null],
    ['an unknown type', { type: 'pigeon' }],
    ['a credential that is not text', { apiKey: 5 }],
    ['a credential of two lines', { apiKey: 'SG.1\nX-Injected: 1' }],
    ['a sender that is not an address', { fromEmail: 'nobody' }],
    ['a sender of two lines', { fromEmail: 'a@example.com\nBcc: b@example.com' }],
    ['a company of two lines', { fromCompany: 'Acme\r\nBcc: b@example.com' }],
    ['a company of 201 characters', { fromCompany: 'x'.repeat(201) }],
    ['a template id that is not text', { commentTemplateId: 5 }],
    ['triggers that are a list', { triggers: ['comment.add'] }],
    ['a trigger that is not a boolean', { triggers: { 'comment.add': 'yes' } }],
    ['a trigger that is null', { triggers: { 'comment.add': null } }],
    ['a trigger of an unknown event', { triggers: { 'comment.explode': true } }],
    ['a grouped trigger of an unknown event', { triggers: { comment: { exploded: true } } }],
    ['an unknown group of triggers', { triggers: { weather: { changed: true } } }],
    ['a trigger named as a method of objects', { triggers: { toString: true } }],
  ])('[4.2] update refuses %s', async (_fault, emailServiceConfig) => {
    const { client, change, config } = await tenant()
    await client.emailConfig.update({ emailServiceConfig: { fromCompany: 'Acme' } })
    const before = await config()
    expect(await change({ useEmailService: true, emailServiceConfig })).toMatchObject(invalid)
    expect(await config()).toEqual(before)
  })

  test('[4.2] update refuses a useEmailService that is not a boolean', async () => {
    const { change } = await tenant()
    expect(await change({ useEmailService: 'yes' })).toMatchObject({
      status: 400,
      body: { error: { status: 'INVALID_ARGUMENT', message: 'useEmailService must be a boolean.' } },
    })
  })

  test('[3.2] update merges into the stored configuration, also inside triggers', async () => {
    const { client, config } = await tenant()
    await client.emailConfig.update({
      emailServiceConfig: { fromEmail: 'a@example.com', fromCompany: 'A', triggers: { 'comment.add': true } },
    })
    await client.emailConfig.update({
      emailServiceConfig: { fromCompany: 'B', triggers: { 'comment.delete': true, 'comment.add': false } },
    })
    expect(await config()).toEqual({
      useEmailService: false,
      emailServiceConfig: {
        ...unset,
        fromEmail: 'a@example.com',
        fromCompany: 'B',
        triggers: { 'comment.add': false, 'comment.delete': true },
      },
    })
    await client.emailConfig.update({ emailServiceConfig: { fromEmail: '', fromCompany: '' } })
    expect(await config()).toMatchObject({ emailServiceConfig: { fromEmail: '', fromCompany: '' } })
  })

  test('[0.1.3] update ignores unknown keys of the configuration', async () => {
    const { change, config } = await tenant()
    expect(await change({ emailServiceConfig: { fromCompany: 'A', colour: 'red' } })).toMatchObject({
      status: 200,
    })
    expect(await config()).toEqual({
      useEmailService: false,
      emailServiceConfig: { ...unset, fromCompany: 'A' },
    })
  })

  test('[24.3] update accepts grouped names of events and stores the dotted names', async () => {
    const { change, config } = await tenant()
    const triggers = {
      comment: { newlyAdded: true, statusChanged: false },
      huddle: { created: true },
      'comment.assigned': true,
      'recorder.done': false,
    }
    expect(await change({ emailServiceConfig: { triggers } })).toMatchObject({ status: 200 })
    expect((await config()).emailServiceConfig.triggers).toEqual({
      'comment_annotation.add': true,
      'comment_annotation.status_change': false,
      'huddle.create': true,
      'comment_annotation.assign': true,
      'recorder.done': false,
    })
  })

  describe('when the service is first enabled', () => {
    test('[3.2.1] enabling the email service sets the type and the default triggers', async () => {
      const { client, config } = await tenant()
      await client.emailConfig.update({ useEmailService: true })
      expect(await config()).toEqual({
        useEmailService: true,
        emailServiceConfig: { ...unset, type: 'custom', triggers: defaultTriggers.email },
      })
    })

    test('[3.2.1] setting the type custom enables the email service', async () => {
      const { client, config } = await tenant()
      await client.emailConfig.update({ emailServiceConfig: { type: 'custom' } })
      expect(await config()).toEqual({
        useEmailService: true,
        emailServiceConfig: { ...unset, type: 'custom', triggers: defaultTriggers.email },
      })
    })

    test.each<[form: string, triggers: AnyTriggers, stored: Triggers]>([
      [
        'dotted',
        { 'comment.add': true, 'comment_annotation.assign': false },
        { 'comment.add': true, 'comment_annotation.assign': false },
      ],
      ['grouped', { comment: { added: true } }, { 'comment.add': true }],
      ['grouped with a dot', { 'comment.added': true }, { 'comment.add': true }],
      ['empty', {}, {}],
    ])(
      '[4.2] [3.2.1] %s triggers of the call that first enables email replace the default triggers',
      async (...row) => {
        const [, triggers, stored] = row
        for (const start of [
          { useEmailService: true, emailServiceConfig: { triggers } },
          { emailServiceConfig: { type: 'custom' as const, triggers } },
        ]) {
          const { client, config } = await tenant()
          await client.emailConfig.update(start)
          expect(await config()).toEqual({
            useEmailService: true,
            emailServiceConfig: { ...unset, type: 'custom', triggers: stored },
          })
          await client.emailConfig.update({ useEmailService: false })
          await client.emailConfig.update({ useEmailService: true })
          expect((await config()).emailServiceConfig.triggers).toEqual(stored)
        }
      },
    )

    test('[3.2.1] a call that enables the service can send another type, and useEmailService false keeps the service off although the type custom is sent', async () => {
      const { client, config } = await tenant()
      await client.emailConfig.update({ useEmailService: true, emailServiceConfig: { type: 'default' } })
      expect(await config()).toEqual({
        useEmailService: true,
        emailServiceConfig: { ...unset, triggers: defaultTriggers.email },
      })
      const other = await tenant()
      await other.client.emailConfig.update({
        useEmailService: false,
        emailServiceConfig: { type: 'custom' },
      })
      expect(await other.config()).toEqual({
        useEmailService: false,
        emailServiceConfig: { ...unset, type: 'custom' },
      })
    })

    test('[3.2.1] enabling the service keeps a type and triggers stored earlier', async () => {
      const { client, config } = await tenant()
      await client.emailConfig.update({
        emailServiceConfig: { type: 'sendgrid', apiKey: 'SG.1234567890abc' },
      })
      await client.emailConfig.update({ useEmailService: true })
      expect(await config()).toMatchObject({
        useEmailService: true,
        emailServiceConfig: { type: 'sendgrid', triggers: defaultTriggers.email },
      })
      const other = await tenant()
      await other.client.emailConfig.update({ emailServiceConfig: { triggers: { 'comment.add': true } } })
      await other.client.emailConfig.update({ useEmailService: true })
      expect((await other.config()).emailServiceConfig.triggers).toEqual({ 'comment.add': true })
    })

    test('[3.2.1] triggers of the enabling call are merged into the triggers of an earlier call', async () => {
      const { client, config } = await tenant()
      await client.emailConfig.update({
        emailServiceConfig: { triggers: { 'comment.add': true, 'comment.delete': true } },
      })
      await client.emailConfig.update({
        useEmailService: true,
        emailServiceConfig: { triggers: { 'comment.add': false, 'huddle.create': true } },
      })
      expect((await config()).emailServiceConfig.triggers).toEqual({
        'comment.add': false,
        'comment.delete': true,
        'huddle.create': true,
      })
    })

    test('[3.2.1] disabling and enabling the service again changes no trigger', async () => {
      const { client, config } = await tenant()
      await client.emailConfig.update({ useEmailService: true })
      await client.emailConfig.update({ emailServiceConfig: { triggers: { 'comment.add': false } } })
      const before = await config()
      await client.emailConfig.update({ useEmailService: false })
      expect(await config()).toEqual({ ...before, useEmailService: false })
      await client.emailConfig.update({ useEmailService: true })
      expect(await config()).toEqual(before)
    })
  })
})
