import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import PostalMime from 'postal-mime'
import { describe, expect, onTestFinished, test } from 'vitest'
import { composeMail } from '../compose-mail.ts'
import { createOutbox } from './outbox.ts'
import { createLog } from '../../../platform/log/log.ts'
import { SteppedClock } from '../../../../test/support/clock.ts'
import { mailRequest } from '../../../../test/support/receivers/mails.ts'

function outbox() {
  const dataDir = mkdtempSync(join(tmpdir(), 'plenum-outbox-'))
  onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }))
  const folder = join(dataDir, 'outbox')
  const log = createLog('debug', { write: () => {} })
  return { folder, ...createOutbox({ folder, clock: new SteppedClock(), log }) }
}

const mail = (deliveryId = 'del_1') => {
  const composed = composeMail(mailRequest({ deliveryId }), 'plenum@example.com')
  if (!composed) throw new Error('The mail of the test is valid.')
  return composed
}

describe('the outbox', () => {
  test('[3.4.9] a mail is one file that mail programs read, and that only the server’s user may read', async () => {
    const { folder, send } = outbox()
    const outcome = await send(mail())
    const [file = '', ...others] = readdirSync(folder)
    expect(others).toEqual([])
    expect(file).toMatch(/^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z-del_1\.eml$/)
    expect(outcome).toEqual({ kind: 'delivered', answer: file })
    expect(statSync(join(folder, file)).mode & 0o777).toBe(0o600)
    expect(await PostalMime.parse(readFileSync(join(folder, file)))).toMatchObject({
      subject: 'Ada Lovelace replied on Launch plan',
      to: [{ address: 'grace@example.com' }],
      text: expect.stringContaining('Please check the table.'),
      html: expect.stringContaining('Please check the table.'),
    })
  })

  test.each(['../../etc/x', 'a/b\\c', 'x\0y', `y${'y'.repeat(500)}`, '..'])(
    '[3.4.9] the delivery id %j leads to a file in the outbox',
    async (deliveryId) => {
      const { folder, send } = outbox()
      expect(await send(mail(deliveryId))).toMatchObject({ kind: 'delivered' })
      expect(readdirSync(folder)).toEqual([expect.stringMatching(/^[\w-]+\.eml$/)])
    },
  )

  test('[3.4.9] a mail fails if the folder cannot be written', async () => {
    const { folder, send } = outbox()
    writeFileSync(folder, 'a file')
    expect(await send(mail())).toMatchObject({
      kind: 'failed',
      error: expect.stringContaining('The outbox cannot be written'),
    })
  })
})
