import { afterEach, expect, test, vi } from 'vitest'
import { currentPage } from './current-page.ts'

afterEach(() => vi.unstubAllGlobals())

test('[K17.5] a new thread has the address and the title of the page in a browser, and none elsewhere', () => {
  expect(currentPage()).toBeUndefined()
  vi.stubGlobal('location', { href: 'https://app.example.com/plan?x=1' })
  expect(currentPage()).toEqual({ url: 'https://app.example.com/plan?x=1' })
  vi.stubGlobal('document', { title: 'Plan' })
  expect(currentPage()).toEqual({ url: 'https://app.example.com/plan?x=1', title: 'Plan' })
  for (const href of [
    'file:///home/ada/page.html',
    'about:blank',
    `https://example.com/${'x'.repeat(2000)}`,
  ]) {
    vi.stubGlobal('location', { href })
    expect(currentPage()).toBeUndefined()
  }
})
