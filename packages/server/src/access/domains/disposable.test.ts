import { disposableEmailBlocklist } from 'disposable-email-domains-js'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { expectToEnd } from '../../../test/support/measures/endless-work.ts'
import { createDisposableCheck } from './disposable.ts'

const isDisposable = createDisposableCheck({})

const disposable = [
  ...words(String.raw`
    a@mailinator.com a+tag@mailinator.com a@MAILINATOR.com A@MailInator.Com a@x.mailinator.com
    a@x.y.z.mailinator.com a@X.Mailinator.COM a@mailinator.com. a@x.mailinator.com. a@mailinator.com。
    a@mailinator。com a@ｍａｉｌｉｎａｔｏｒ.com a@ｘ．ｍａｉｌｉｎａｔｏｒ．ｃｏｍ a@Mɪ.mailinator.com a@bücher.mailinator.com
    a@a_b.mailinator.com "a@gmail.com"@mailinator.com a@gmail.com@mailinator.com mailinator.com
    a@guerrillamail.com a@yopmail.com a@10minutemail.com
  `),
  ' a@mailinator.com ',
  'a@mail\u00adinator.com',
]

const lasting = [
  ...words(String.raw`
    a@gmail.com a@example.com mailinator.com@gmail.com a+mailinator.com@gmail.com a@mailinator.org.uk
    a@my-mailinator.com a@mailinator.com.example.com a@mailinator-com.example a@com a@ @ a a@mailinator
    "a@mailinator.com"@example.com
  `),
  '',
  'a@mailin\u0430tor.com',
]

describe('createDisposableCheck', () => {
  it.each(disposable)('[1.1.5] %j is disposable', (email) => {
    expect(isDisposable(email)).toBe(true)
  })

  it.each(lasting)('[1.1.5] %j is not disposable', (email) => {
    expect(isDisposable(email)).toBe(false)
  })

  it('[1.1.5] every domain of the bundled list is disposable, with its subdomains', () => {
    const missed = disposableEmailBlocklist().filter(
      (domain) => !isDisposable(`a@${domain}`) || !isDisposable(`a@Mail.${domain.toUpperCase()}`),
    )
    expect(missed).toEqual([])
  })

  it.each([
    'trash.example',
    'a@x.trash.example',
    'a@TRASH.example.',
    'a@xn--mll-hoa.example',
    'a@x.müll.example',
  ])('[1.1.5] a domain in DISPOSABLE_DOMAINS is disposable: %j', (email) => {
    const check = createDisposableCheck({ extra: [' Trash.Example. ', 'MÜLL.example'] })
    expect(check(email)).toBe(true)
    expect(check('a@mailinator.com')).toBe(true)
    expect(check('a@example')).toBe(false)
  })

  it.each([
    ['a@mailinator.com', true],
    ['a@team.mailinator.com', false],
    ['a@x.team.mailinator.com', false],
    ['a@TEAM.mailinator.com.', false],
    ['a@ateam.mailinator.com', true],
    ['a@yopmail.com', false],
    ['a@x.yopmail.com', false],
    ['a@trash.yopmail.com', false],
    ['a@guerrillamail.com', true],
  ])(
    '[1.1.5] domains in DISPOSABLE_DOMAINS_EXCEPT and their subdomains are not disposable. Is %j disposable? %j',
    (email, expected) => {
      const check = createDisposableCheck({
        extra: ['trash.yopmail.com'],
        allow: ['Team.Mailinator.com', 'yopmail.com.'],
      })
      expect(check(email)).toBe(expected)
    },
  )

  it('[1.1.5] the settings of one disposable check do not affect another one', () => {
    createDisposableCheck({ extra: ['example.com'], allow: ['mailinator.com'] })
    expect(createDisposableCheck({})('a@example.com')).toBe(false)
    expect(createDisposableCheck({})('a@mailinator.com')).toBe(true)
  })

  it('[1.1.5] the disposable check never throws, and the local part does not change the result', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        isDisposable(text)
        expect(isDisposable(`${text}@x.mailinator.com`)).toBe(true)
        expect(isDisposable(`${text}@example.com`)).toBe(false)
      }),
    )
  })

  it.each(['a', '.', 'a.', '@', '-', ' ', 'ü', 'ü.', '。', '_.'])(
    '[1.1.5] the disposable check of addresses that repeat %j takes a number of steps that grows with the length',
    (unit) => {
      const text = unit.repeat(2_000_000)
      const emails = [text, `a@${text}`, `a@${text}mailinator.com`, `${text}@mailinator.com`]
      expectToEnd(() => emails.forEach((email) => isDisposable(email)))
    },
  )
})

function words(table: string): string[] {
  return table.trim().split(/\s+/)
}
