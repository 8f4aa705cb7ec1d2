/** Writes pictures of every kind of mail to `docs/images/emails`, or to the folder that is given. Needs a Chromium in PATH. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { chromium, type Page } from 'playwright-core'
import { renderMail } from '../packages/server/src/deliveries/emails/render-mail.ts'
import { chromiumProgram, findOrInstall } from '../packages/server/test/support/services/programs.ts'
import { exampleMails, recipient } from './example-mails.ts'

const folder = process.argv[2] ?? 'docs/images/emails'
const unsubscribeUrl = 'https://plenum.example.com/unsubscribe/token'

mkdirSync(folder, { recursive: true })
const browser = await chromium.launch({
  executablePath: findOrInstall(chromiumProgram),
  args: ['--no-sandbox'],
})

/** Chromium writes WebP only by its own protocol. */
async function save(page: Page, name: string): Promise<void> {
  const session = await page.context().newCDPSession(page)
  const height = await page.evaluate('document.documentElement.scrollHeight')
  await page.setViewportSize({ width: page.viewportSize()?.width ?? 0, height: Number(height) })
  const { data } = await session.send('Page.captureScreenshot', { format: 'webp', quality: 80 })
  writeFileSync(join(folder, `${name}.webp`), Buffer.from(data, 'base64'))
}

for (const [name, content] of Object.entries(exampleMails)) {
  const { html } = renderMail(content, { recipient, unsubscribeUrl })
  for (const [suffix, width, colorScheme] of [
    ['', 1000, 'light'],
    ['-phone', 390, 'light'],
    ...(name === 'mention' ? ([['-dark', 390, 'dark']] as const) : []),
  ] as const) {
    const page = await browser.newPage({ viewport: { width, height: 100 }, colorScheme })
    await page.setContent(html)
    await save(page, name + suffix)
    await page.close()
  }
}
await browser.close()
