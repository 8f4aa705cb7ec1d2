import { describe, expect, test } from 'vitest'
import { openBrowser } from '../support/services/chromium.ts'
import { useServer } from '../support/harness.ts'
import { table } from '../support/table/table.ts'

describe('[0.1.7] /docs and /openapi.json', () => {
  const server = useServer('sqlite', { isOwn: true })

  test('[0.1.7] /docs lists all operations without JavaScript', async () => {
    const html = await (await fetch(`${server.url}/docs`)).text()
    expect(html).toContain('<li><b>Create Workspace</b> <code>POST /v2/workspace/create</code>')
    for (const { operation } of table) expect(html).toContain(`<b>${operation.title}</b>`)
  })

  test('[0.1.7] /openapi.json has a unique title for each operation', async () => {
    const { paths } = (await (await fetch(`${server.url}/openapi.json`)).json()) as {
      paths: Record<string, { post: { summary: string } }>
    }
    const titles = Object.values(paths).map(({ post }) => post.summary)
    expect(titles.filter((title, index) => titles.indexOf(title) !== index)).toEqual([])
    expect(titles).toContain('Get Organizations')
    expect(titles).toContain('Update Users (v1)')
  })

  test(
    '[0.1.7] /docs shows the titles of operations in its sidebar, without warnings, and loads only from its server',
    { timeout: 300_000 },
    async () => {
      const browser = await openBrowser()
      try {
        const page = await browser.newPage()
        page.setDefaultTimeout(120_000)
        const warnings: string[] = []
        const origins = new Set<string>()
        page.on('console', (message) => {
          if (['warning', 'error'].includes(message.type())) warnings.push(message.text())
        })
        page.on('pageerror', (error) => warnings.push(String(error)))
        page.on('request', (request) => {
          const { protocol, origin } = new URL(request.url())
          if (protocol !== 'data:') origins.add(origin)
        })
        await page.goto(`${server.url}/docs`)

        const sidebar = page.locator('#reference aside').first()
        await sidebar.getByText('Create Workspace').first().waitFor()
        await sidebar.getByText('Documents', { exact: true }).first().click()
        await sidebar.getByText('Migrate Documents Status').first().waitFor()
        expect(await sidebar.innerText()).not.toMatch(/\/v[12]\//)
        await page.locator('#list').waitFor({ state: 'detached' })
        expect(warnings).toEqual([])
        expect([...origins]).toEqual([server.url])
      } finally {
        await browser.close()
      }
    },
  )
})
