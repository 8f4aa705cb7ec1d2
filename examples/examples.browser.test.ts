import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startServer, type TestServer } from '../packages/server/test/support/harness.ts'
import { openBrowser } from '../packages/server/test/support/services/chromium.ts'
import { type Backend, startBackend } from './backend.ts'
import { buildPage } from './build.ts'

describe('[E1] the example in a real browser', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'plenum-example-'))
  let server: TestServer
  let backend: Backend
  let browser: Browser
  let page: Page
  const pageErrors: string[] = []

  beforeAll(async () => {
    server = await startServer('sqlite')
    backend = await startBackend({ plenumUrl: server.url, dataDir, pageDir: await buildPage(), port: 0 })
    browser = await openBrowser()
    page = await openPage()
  }, 300_000)

  afterAll(async () => {
    await browser?.close()
    await backend?.close()
    await server?.stop()
    rmSync(dataDir, { recursive: true, force: true })
  })

  async function openPage(): Promise<Page> {
    const page = await browser.newPage()
    page.on('pageerror', (error) => pageErrors.push(error.message))
    await page.goto(backend.url)
    for (const user of ['#ada', '#bob']) {
      await page.waitForSelector(`${user} .tiptap`)
      await page
        .locator(`${user} .status`)
        .filter({ hasText: /connected|saved/ })
        .waitFor()
    }
    return page
  }

  /** The text of each paragraph, without the cursors of other users. */
  const paragraphsIn = (page: Page, selector: string) =>
    page.$$eval(`${selector} p`, (paragraphs) =>
      paragraphs.map((paragraph) => {
        const copy = paragraph.cloneNode(true) as Element
        for (const caret of copy.querySelectorAll('.collaboration-carets__caret')) caret.remove()
        return copy.textContent?.replaceAll(/[\u2060\u200b]/g, '')
      }),
    )

  /** Keys go to the focused element, so this waits until the focus has moved. */
  async function focus(selector: string): Promise<void> {
    await page.click(selector)
    await page.waitForSelector(`${selector}:focus`)
  }

  /** The text before Bob's cursor, as Ada sees it. */
  const textBeforeBobsCursor = () =>
    page.$$eval('#ada .collaboration-carets__caret', ([caret]) => {
      const [range, paragraph] = [document.createRange(), caret?.closest('p')]
      if (!caret || !paragraph) return undefined
      range.setStart(paragraph, 0)
      range.setEndBefore(caret)
      return range.toString().replaceAll(/[\u2060\u200b]/g, '')
    })

  /**
   * Tiptap learns about a moved cursor in a later event, and a redraw before that event moves the cursor back. So this
   * presses the keys until the cursor has moved.
   */
  async function moveBobsCursor(key: 'Control+Home' | 'Control+End', textBefore: string): Promise<void> {
    await expect
      .poll(async () => {
        await page.keyboard.press(key)
        return textBeforeBobsCursor()
      })
      .toBe(textBefore)
  }

  /** Selects Ada's first line, until Bob sees that it is selected. */
  async function selectFirstLine(text: string): Promise<void> {
    await expect
      .poll(async () => {
        await page.keyboard.press('Control+Home')
        await page.keyboard.press('Shift+End')
        return (await page.locator('#bob .ProseMirror-yjs-selection').allInnerTexts()).join('')
      })
      .toBe(text)
  }

  test('[E1] two users type into one Tiptap document through different providers', async () => {
    await focus('#ada .tiptap')
    await page.keyboard.type('Hello Bob')
    await expect.poll(() => paragraphsIn(page, '#bob .tiptap')).toEqual(['Hello Bob'])
    await focus('#bob .tiptap')
    await moveBobsCursor('Control+End', 'Hello Bob')
    await page.keyboard.press('Enter')
    await page.keyboard.type('Hello Ada')
    await expect.poll(() => paragraphsIn(page, '#ada .tiptap')).toEqual(['Hello Bob', 'Hello Ada'])
    await expect.poll(() => page.innerText('#bob .status')).toBe('saved')
  })

  test('[E1] a user sees the cursor of the other user, with the name', async () => {
    await page.click('#bob .tiptap')
    await expect
      .poll(() => page.locator('#ada .collaboration-carets__label').allInnerTexts())
      .toEqual(['Bob'])
  })

  test('[E1] a user sees what the other user types into CodeMirror', async () => {
    await focus('#ada .cm-content')
    await page.keyboard.type('const answer = 42')
    await expect.poll(() => page.innerText('#bob .cm-content')).toContain('const answer = 42')
  })

  test('[E1] the page lists both users, and shows what the backend broadcasts', async () => {
    await expect
      .poll(async () => (await page.locator('#users li').allInnerTexts()).sort())
      .toEqual(['Ada', 'Bob'])
    await page.fill('#text', 'Deploy finished')
    await page.click('#broadcast button')
    await expect.poll(() => page.innerText('#banner')).toBe('Deploy finished')
  })

  test('[E1] a comment on selected text is beside the editor of the other user, and in the inbox of the user whom it mentions', async () => {
    await page.fill('#ada .threads > form input', 'Not about a text')
    await page.keyboard.press('Enter')
    await page.locator('#bob .thread').filter({ hasText: 'Not about a text' }).waitFor()
    await focus('#ada .tiptap')
    await selectFirstLine('Hello Bob')
    await page.fill('#ada .threads > form input', 'Really, @bob?')
    await page.keyboard.press('Enter')
    const thread = page.locator('#bob .thread').first()
    await expect.poll(() => thread.locator('p').allInnerTexts()).toEqual(['Ada Really, @Bob?'])
    expect(await thread.locator('.quote').innerText()).toBe('Hello Bob')
    await expect.poll(() => page.innerText('#bob .inbox summary')).toBe('Inbox (2)')
    await page.click('#bob .inbox summary')
    expect(await page.locator('#bob .inbox li').first().innerText()).toContain('Really, @Bob?')

    // The range moves with its text.
    await focus('#bob .tiptap')
    await moveBobsCursor('Control+Home', '')
    await page.keyboard.type('Well: ')
    await expect.poll(() => paragraphsIn(page, '#ada .tiptap')).toEqual(['Well: Hello Bob', 'Hello Ada'])
    // The ranges are found again a moment after the text.
    await expect
      .poll(async () => {
        await page.locator('#ada .thread .quote').first().click()
        return page.evaluate(() => String(getSelection()))
      })
      .toBe('Hello Bob')
    // Both editors highlight it.
    const highlighted = () =>
      page.$$eval('#ada .plenum-thread, #bob .plenum-thread', (all) => all.map((one) => one.textContent))
    await expect.poll(highlighted).toEqual(['Hello Bob', 'Hello Bob'])

    // It survives cut and paste.
    await focus('#ada .tiptap')
    await selectFirstLine('Well: Hello Bob')
    await page.keyboard.press('Control+x')
    await expect.poll(() => paragraphsIn(page, '#bob .tiptap')).toEqual(['', 'Hello Ada'])
    await expect.poll(highlighted).toEqual([])
    await page.keyboard.press('Control+v')
    await expect.poll(() => paragraphsIn(page, '#bob .tiptap')).toEqual(['Well: Hello Bob', 'Hello Ada'])
    await expect.poll(highlighted).toEqual(['Hello Bob', 'Hello Bob'])

    // A click elsewhere has closed the inbox, which marks it as read.
    await expect.poll(() => page.innerText('#bob .inbox summary')).toBe('Inbox')
    await thread.locator('input').fill('Yes.')
    await page.keyboard.press('Enter')
    await thread.getByText('Resolve').click()
    await page.locator('#ada .thread.resolved').filter({ hasText: 'Yes.' }).waitFor()
    await expect.poll(() => page.innerText('#ada .inbox summary')).toBe('Inbox (2)')
  })

  test('[E1] a user who opens the page later sees the text and the last broadcast', async () => {
    const latePage = await openPage()
    await expect.poll(() => paragraphsIn(latePage, '#ada .tiptap')).toEqual(['Well: Hello Bob', 'Hello Ada'])
    await expect.poll(() => latePage.innerText('#banner')).toBe('Deploy finished')
    await latePage.close()
    expect(pageErrors).toEqual([])
  })
})
