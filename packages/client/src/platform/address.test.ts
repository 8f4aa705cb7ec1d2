import { afterEach, expect, test, vi } from 'vitest'
import { createClient } from '../index.ts'

afterEach(() => void vi.unstubAllGlobals())

test.each([
  [undefined, 'not undefined.'],
  [4000, 'not number.'],
  [{ href: 'http://plenum.test' }, 'not object.'],
  ['', 'not "". It must begin with http:// or https://.'],
  ['plenum.test', 'not "plenum.test". It must begin with http:// or https://.'],
  ['http://', 'not "http://". It must begin with http:// or https://.'],
  ['/base', 'not "/base". A relative address works only in a web page.'],
  ['localhost:4000', 'url must begin with http:// or https://, not "localhost:4000".'],
  ['ws://plenum.test', 'url must begin with http:// or https://, not "ws://plenum.test".'],
  ['ftp://plenum.test', 'url must begin with http:// or https://, not "ftp://plenum.test".'],
  ['http://plenum.test/realtime', 'url must not end with /realtime: the client adds it.'],
  ['http://plenum.test/base/realtime/', 'url must not end with /realtime'],
  [
    'http://plenum.test/base?key=secret',
    'url must not have a query or a fragment. Use "http://plenum.test/base".',
  ],
  ['http://plenum.test/#top', 'Use "http://plenum.test/".'],
  ['http://ada:secret@plenum.test', 'url must not contain a user name or a password.'],
])('[K1.2] the url %j is refused at once, with a reason and without secrets', (url, reason) => {
  const create = () => createClient({ url } as never)
  expect(create).toThrow(reason)
  expect(create).toThrow(expect.objectContaining({ message: expect.not.stringContaining('secret') }))
})

test('[K1.2] missing options are refused with the reason for a missing url', () => {
  expect(() => createClient(undefined as never)).toThrow('url must be the address of the server, such as')
})

test('[K1.2] a url without a scheme is refused in a web page too, but a path is accepted there', () => {
  vi.stubGlobal('location', new URL('https://app.test/notes/1'))
  expect(() => createClient({ url: 'plenum.test' })).toThrow('not "plenum.test"')
  expect(() => createClient({ url: '/base' })).not.toThrow()
})
