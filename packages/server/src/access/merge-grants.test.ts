import { describe, expect, test } from 'vitest'
import { type Grant, mergeGrants } from './permissions.ts'

const now = 1_700_000_000
const viewer: Grant = { accessRole: 'viewer' }
const editor: Grant = { accessRole: 'editor' }

describe('token and stored grants', () => {
  const moment = now * 1000
  type Kind = 'none' | 'live' | 'ended'
  type Order = 'the token is newer' | 'the stored grant is newer' | 'both have the same millisecond'
  type Row = [stored: Kind, token: Kind, order: Order, applies: 'token' | 'stored' | 'neither']

  // A removed grant is stored as ended.
  // prettier-ignore
  const rows: Row[] = [
    ['none',  'none',  'the token is newer',          'neither'],
    ['none',  'live',  'the token is newer',          'token'],
    ['none',  'ended', 'the token is newer',          'neither'],
    ['live',  'none',  'the stored grant is newer',     'stored'],
    ['ended', 'none',  'the stored grant is newer',     'neither'],
    ['live',  'live',  'the token is newer',          'token'],
    ['live',  'live',  'the stored grant is newer',     'stored'],
    ['live',  'live',  'both have the same millisecond', 'stored'],
    ['live',  'ended', 'the token is newer',          'stored'],
    ['live',  'ended', 'the stored grant is newer',     'stored'],
    ['live',  'ended', 'both have the same millisecond', 'stored'],
    ['ended', 'live',  'the token is newer',          'token'],
    ['ended', 'live',  'the stored grant is newer',     'neither'],
    ['ended', 'live',  'both have the same millisecond', 'neither'],
    ['ended', 'ended', 'the token is newer',          'neither'],
    ['ended', 'ended', 'the stored grant is newer',     'neither'],
    ['ended', 'ended', 'both have the same millisecond', 'neither'],
  ]
  const live = [undefined, null, now + 1]
  const ended = [0, now - 1, now]
  const storedAt = {
    'the token is newer': -1,
    'the stored grant is newer': 1,
    'both have the same millisecond': 0,
  }

  test.each(rows)(
    '[25.3] which grant applies (stored: %s, token: %s, %s): %s',
    (storedKind, tokenKind, order, applies) => {
      const some = (kind: Kind): Grant[] =>
        (kind === 'live' ? live : ended).flatMap((expiresAt) => [
          { accessRole: 'viewer', expiresAt },
          { accessRole: 'editor', expiresAt },
        ])
      const setAt = moment + storedAt[order]
      const stored = storedKind === 'none' ? [undefined] : some(storedKind).map((one) => ({ ...one, setAt }))
      const tokens =
        tokenKind === 'none' ? [undefined] : some(tokenKind).map((one) => ({ ...one, issuedAt: moment }))
      for (const one of stored)
        for (const token of tokens)
          expect(mergeGrants(one, token, now)).toBe({ token, stored: one, neither: undefined }[applies])
    },
  )

  test('[25.3.5] the role is the last one that was sent in a grant that has not ended', () => {
    const noRole = { ...editor, hasDefaultRole: true }
    const token = (grant: Grant, issuedAt = 0) => ({ ...grant, issuedAt: moment + issuedAt })
    const stored = (grant: Grant, setAt: number, roleSetAt?: number) => ({
      ...grant,
      setAt: moment + setAt,
      ...(roleSetAt !== undefined && { roleSetAt: moment + roleSetAt }),
    })
    const roleOf = (...grants: [ReturnType<typeof stored>, ReturnType<typeof token>]) => {
      const { accessRole, roleEndsAt } = mergeGrants(...grants, now) as Grant
      return roleEndsAt === undefined ? accessRole : [accessRole, roleEndsAt]
    }
    expect(roleOf(stored(noRole, 1), token(viewer))).toBe('viewer')
    expect(roleOf(stored(viewer, -1), token(noRole))).toBe('viewer')
    expect(roleOf(stored(noRole, 1), token(noRole))).toBe('editor')
    expect(roleOf(stored(viewer, 1, -1), token(editor))).toBe('editor')
    expect(roleOf(stored(viewer, 1, 0), token(editor))).toBe('viewer')
    expect(roleOf(stored(noRole, 1), token({ ...viewer, expiresAt: now + 1 }))).toEqual(['viewer', now + 1])
    expect(roleOf(stored(noRole, 1), token({ ...viewer, expiresAt: now }))).toBe('editor')
    expect(roleOf(stored({ ...viewer, expiresAt: now }, -1), token(noRole))).toBe('editor')
  })

  test("[25.3.2] an older stored grant applies again when the token's grant ends, but an older token does not when the stored grant ends", () => {
    const at = (setAt: number, until: number) => ({
      ...viewer,
      setAt: moment + setAt,
      expiresAt: now + until,
    })
    const token = { ...editor, issuedAt: moment, expiresAt: now + 2 }
    const over = (stored: ReturnType<typeof at>) =>
      [0, 1, 2, 3].map((seconds) => mergeGrants(stored, token, now + seconds)?.accessRole ?? 'none')
    expect(over(at(-1, 3))).toEqual(['editor', 'editor', 'viewer', 'none'])
    expect(over(at(1, 1))).toEqual(['viewer', 'none', 'none', 'none'])
    expect(over(at(1, 3))).toEqual(['viewer', 'viewer', 'viewer', 'none'])
  })
})
