import { afterEach, describe, expect, test, vi } from 'vitest'
import { createClient } from '../index.ts'

afterEach(() => void vi.unstubAllGlobals())

const inPage = () => vi.stubGlobal('location', new URL('https://app.test/notes/1'))

describe('[K1.2] the address of the server', () => {
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
  ])('[K1.2] %j is refused at once, with a reason and without secrets', (url, reason) => {
    const create = () => createClient({ url } as never)
    expect(create).toThrow(reason)
    expect(create).toThrow(expect.objectContaining({ message: expect.not.stringContaining('secret') }))
  })

  test('[K1.2] without any options is refused with the same reason', () => {
    expect(() => createClient(undefined as never)).toThrow('url must be the address of the server, such as')
  })

  test('[K1.2] without a scheme is not taken for a path of the page', () => {
    inPage()
    expect(() => createClient({ url: 'plenum.test' })).toThrow('not "plenum.test"')
    expect(() => createClient({ url: '/base' })).not.toThrow()
  })
})
