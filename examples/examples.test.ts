import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Browser, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startServer, type TestServer } from '../packages/server/test/support/harness.ts'
import { chromiumForTests } from '../packages/server/test/support/browser.ts'
import { type Backend, startBackend } from './backend.ts'
import { buildPage } from './build.ts'

describe('[E1] the example in a real browser', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'plenum-example-'))
  let server: TestServer
  let backend: Backend
  let browser: Browser
  let page: Page
  const faults: string[] = []

  beforeAll(async () => {
    server = await startServer('sqlite')
    backend = await startBackend({ plenumUrl: server.url, dataDir, page: await buildPage(), port: 0 })
    browser = await chromium.launch({ executablePath: chromiumForTests(), args: ['--no-sandbox'] })
    page = await open()
  }, 300_000)

  afterAll(async () => {
    await browser?.close()
    await backend?.close()
    await server?.stop()
    rmSync(dataDir, { recursive: true, force: true })
  })

  async function open(): Promise<Page> {
    const page = await browser.newPage()
    page.on('pageerror', (error) => faults.push(error.message))
    await page.goto(backend.url)
    for (const person of ['#ada', '#bob']) {
      await page.waitForSelector(`${person} .tiptap`)
      await page
        .locator(`${person} .status`)
        .filter({ hasText: /connected|saved/ })
        .waitFor()
    }
    return page
  }

  /** The paragraphs, without the cursors of others in them. */
  const text = (page: Page, selector: string) =>
    page.$$eval(`${selector} p`, (paragraphs) =>
      paragraphs.map((paragraph) => {
        const copy = paragraph.cloneNode(true) as Element
        for (const caret of copy.querySelectorAll('.collaboration-carets__caret')) caret.remove()
        return copy.textContent?.replaceAll(/[\u2060\u200b]/g, '')
      }),
    )

  /** What is typed goes where the focus is. */
  async function focus(selector: string): Promise<void> {
    await page.click(selector)
    await page.waitForSelector(`${selector}:focus`)
  }

  /** The text before Bob's cursor, as Ada sees it. */
  const beforeBobsCursor = () =>
    page.$$eval('#ada .collaboration-carets__caret', ([caret]) => {
      const [range, paragraph] = [document.createRange(), caret?.closest('p')]
      if (!caret || !paragraph) return undefined
      range.setStart(paragraph, 0)
      range.setEndBefore(caret)
      return range.toString().replaceAll(/[\u2060\u200b]/g, '')
    })

  /** Tiptap learns of a moved cursor by an event that comes later, and what is redrawn before it moves the cursor back. */
  async function moveToEnd(): Promise<void> {
    await expect
      .poll(async () => {
        await page.keyboard.press('Control+End')
        return beforeBobsCursor()
      })
      .toBe('Hello Bob')
  }

  test('[E1] two people type into one Tiptap document through different providers', async () => {
    await focus('#ada .tiptap')
    await page.keyboard.type('Hello Bob')
    await expect.poll(() => text(page, '#bob .tiptap')).toEqual(['Hello Bob'])
    await focus('#bob .tiptap')
    await moveToEnd()
    await page.keyboard.press('Enter')
    await page.keyboard.type('Hello Ada')
    await expect.poll(() => text(page, '#ada .tiptap')).toEqual(['Hello Bob', 'Hello Ada'])
    await expect.poll(() => page.innerText('#bob .status')).toBe('saved')
  })

  test('[E1] each sees the cursor of the other, with the name', async () => {
    await page.click('#bob .tiptap')
    await expect
      .poll(() => page.locator('#ada .collaboration-carets__label').allInnerTexts())
      .toEqual(['Bob'])
  })

  test('[E1] CodeMirror shares its text as well', async () => {
    await focus('#ada .cm-content')
    await page.keyboard.type('const answer = 42')
    await expect.poll(() => page.innerText('#bob .cm-content')).toContain('const answer = 42')
  })

  test('[E1] presence shows both, and what the backend broadcasts appears at once', async () => {
    await expect
      .poll(async () => (await page.locator('#people li').allInnerTexts()).sort())
      .toEqual(['Ada', 'Bob'])
    await page.fill('#text', 'Deploy finished')
    await page.click('#broadcast button')
    await expect.poll(() => page.innerText('#banner')).toBe('Deploy finished')
  })

  test('[E1] whoever opens the page later finds all of it', async () => {
    const late = await open()
    await expect.poll(() => text(late, '#ada .tiptap')).toEqual(['Hello Bob', 'Hello Ada'])
    await expect.poll(() => late.innerText('#banner')).toBe('Deploy finished')
    await late.close()
    expect(faults).toEqual([])
  })
})
