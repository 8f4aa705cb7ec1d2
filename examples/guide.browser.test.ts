import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { build, defaultClientConditions } from 'vite'
import * as given from '../packages/server/test/support/given.ts'
import { anyStore, useServer } from '../packages/server/test/support/harness.ts'
import { tokenFor } from '../packages/server/test/support/access/user-tokens.ts'
import { openBrowser } from '../packages/server/test/support/services/chromium.ts'
import examples from './package.json' with { type: 'json' }

const guides = join(import.meta.dirname, '../docs/guides')
const editorsGuide = readFileSync(join(guides, 'editors.md'), 'utf8')
const clientGuide = readFileSync(join(guides, 'client.md'), 'utf8')

/** Returns the only code block of the guide that contains all of these words. */
function blockWith(guide: string, ...words: string[]): string {
  const blocks = [...guide.matchAll(/```(?:js|sh)\n([\s\S]*?)```/g)].map(([, code = '']) => code)
  const found = blocks.filter((code) => words.every((word) => code.includes(word)))
  expect(found).toHaveLength(1)
  return found[0] as string
}

test('[E2] the editor guide installs the package versions that the examples use', () => {
  const line = blockWith(editorsGuide, 'npm install', '@tiptap/core').trim()
  const installed = line.replace('npm install ', '').split(' ')
  const tested = Object.entries(examples.dependencies).map(([name, version]) => `${name}@${version}`)
  expect(tested).toEqual(expect.arrayContaining(installed))
  expect(installed).toEqual(
    expect.arrayContaining(tested.filter((name) => /^(yjs|@tiptap|@hocuspocus)/.test(name))),
  )
})

describe('[E2] the code of the guides in a real browser', () => {
  const server = useServer(anyStore)
  const pages = new Map<string, string>()
  const site = createServer((request, response) => {
    const page = pages.get(request.url ?? '')
    response
      .writeHead(page === undefined ? 404 : 200, { 'content-type': 'text/html; charset=utf-8' })
      .end(page)
  })
  const pageErrors: string[] = []
  let folder = ''
  let browser: Browser

  beforeAll(async () => {
    // Inside this folder, so that the bundler finds the packages of the examples.
    folder = mkdtempSync(join(import.meta.dirname, '.guide-'))
    await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve))
    browser = await openBrowser()
  })

  afterEach(() => expect(pageErrors.splice(0)).toEqual([]))

  afterAll(async () => {
    await browser?.close()
    await new Promise((resolve) => site.close(resolve))
    if (folder !== '') rmSync(folder, { recursive: true, force: true })
  })

  /** Opens a page that runs this code unchanged, except for the address of the server. Defines `token` first. */
  async function openPage(code: string, token: string): Promise<Page> {
    const entry = join(folder, 'entry.js')
    const codeForServer = code.replaceAll('//localhost:4000', server.url.replace('http:', ''))
    writeFileSync(entry, `const token = ${JSON.stringify(token)}\n${codeForServer}`)
    const result = await build({
      root: folder,
      configFile: false,
      logLevel: 'error',
      resolve: { conditions: ['plenum-source', ...defaultClientConditions], dedupe: ['yjs'] },
      define: { 'process.env.NODE_ENV': '"production"' },
      build: { write: false, lib: { entry, formats: ['es'] }, minify: false },
    })
    const [output] = [result].flat() as { output: { code: string }[] }[]
    const script = output?.output[0]?.code.replaceAll('</script', '<\\/script')
    const path = `/${pages.size}`
    const body = '<div id="editor"></div><div id="code"></div>'
    pages.set(path, `<!doctype html>${body}<script type="module">${script}</script>`)
    const page = await browser.newPage()
    page.on('pageerror', (error) => pageErrors.push(error.message))
    await page.goto(`http://127.0.0.1:${(site.address() as AddressInfo).port}${path}`)
    return page
  }

  async function createTenant() {
    const tenant = await given.tenant(server)
    return { tenant, token: await tokenFor(tenant, 'ada', { resources: [organization] }) }
  }
  const organization = { type: 'organization' as const, id: 'acme' }

  const readContent = async ({ client }: given.Tenant, editorId: string) =>
    (await client.crdt.get({ organizationId: 'acme', documentId: 'welcome', editorId })).data[0]?.data

  /** Runs code of the guide that is for backends, and returns what it prints. */
  async function runAsBackend(code: string, plenum: given.Tenant['client']): Promise<string[]> {
    const printed: string[] = []
    const fakeConsole = { log: (line: string) => printed.push(line) }
    const AsyncFunction = (async () => {}).constructor as FunctionConstructor
    await new AsyncFunction('plenum', 'console', code)(plenum, fakeConsole)
    return printed
  }

  const tiptapBlocks: [provider: string, editorId: string, code: () => string][] = [
    ['the Hocuspocus provider', 'text', () => blockWith(editorsGuide, 'HocuspocusProvider', 'new Editor')],
    ["Plenum's client", 'article', () => blockWith(clientGuide, 'new Editor', 'contentKey')],
  ]

  test.each(tiptapBlocks)(
    '[E2] REST reads what a user types into Tiptap through %s, and Tiptap shows a REST write',
    async (_provider, editorId, code) => {
      const { tenant, token } = await createTenant()
      const page = await openPage(code(), token)
      await page.click('.tiptap')
      await page.keyboard.type('Hello')
      await expect.poll(() => readContent(tenant, editorId)).toBe('<paragraph>Hello</paragraph>')
      const backendCode = blockWith(editorsGuide, 'plenum.crdt.get', 'from the backend')
      const printed = await runAsBackend(backendCode.replace("'text'", `'${editorId}'`), tenant.client)
      expect(printed).toEqual(['<paragraph>Hello</paragraph>'])
      await expect
        .poll(() => page.locator('.tiptap p').allInnerTexts())
        .toEqual([expect.stringContaining('Hello'), 'from the backend'])
      await page.close()
    },
  )

  describe('[17.3.4] REST changes words in an open Tiptap editor', () => {
    const editorRef = { organizationId: 'acme', documentId: 'welcome', editorId: 'article' }
    const tiptapOf = (page: Page) => ({
      set: (html: string) => page.evaluate(`void tiptap.commands.setContent(${JSON.stringify(html)})`),
      json: () => page.evaluate<unknown>('tiptap.getJSON()'),
    })

    async function openTiptap() {
      const { tenant, token } = await createTenant()
      const code = blockWith(clientGuide, 'new Editor', 'contentKey')
      const page = await openPage(code.replace('new Editor(', 'globalThis.tiptap = new Editor('), token)
      await page.waitForSelector('.tiptap')
      return { tenant, page, tiptap: tiptapOf(page) }
    }

    test('[17.3.4] marks, typed attributes and all other nodes stay, also when the user goes on typing', async () => {
      const { tenant, page, tiptap } = await openTiptap()
      await tiptap.set(
        '<h2>Title</h2><p>Intro text <strong>important</strong> and <a href="https://a.example">a link</a>, the end.</p>' +
          '<ol start="3"><li><p>three<br><em>lines</em></p></li></ol><pre><code class="language-js">x</code></pre>',
      )
      const before = JSON.stringify(await tiptap.json())
      await expect.poll(() => readContent(tenant, 'article')).toContain('language="js"')
      const xml = String(await readContent(tenant, 'article'))
      const changed = (text: string) =>
        text.replace('Intro', 'Opening').replace('end.', 'close.').replace('three', 'four')
      await tenant.client.crdt.update({ ...editorRef, type: 'xml', data: changed(xml) })
      await expect.poll(() => page.innerText('.tiptap')).toContain('close.')
      expect(await tiptap.json()).toEqual(JSON.parse(changed(before)))
      await page.click('.tiptap h2')
      await page.keyboard.press('Home')
      await page.keyboard.type('A ')
      await expect.poll(() => readContent(tenant, 'article')).toBe(changed(xml).replace('Title', 'A Title'))
      await page.close()
    })

    test('[E2] the backend code of the guide changes a word beside a bold one', async () => {
      const { tenant, page, tiptap } = await openTiptap()
      await tiptap.set('<p>Hello <strong>dear</strong> world</p>')
      await expect.poll(() => readContent(tenant, 'article')).toContain('dear')
      const code = blockWith(editorsGuide, 'plenum.crdt.update', '<bold>dear</bold>')
      const printed = await runAsBackend(`const text = ${JSON.stringify(editorRef)}\n${code}`, tenant.client)
      expect(printed).toEqual([
        expect.stringContaining('<paragraph>Hello <bold>dear</bold> world</paragraph>'),
      ])
      await expect
        .poll(() => page.innerHTML('.tiptap'))
        .toContain('<p>Hello <strong>dear</strong> reader</p>')
      await page.close()
    })

    test('[17.3.4] Tiptap shows marks and headings that a backend has written into a new editor', async () => {
      const { tenant, token } = await createTenant()
      const data = '<heading level="3">Title</heading><paragraph>Some <bold>words</bold></paragraph>'
      await tenant.client.crdt.add({ ...editorRef, type: 'xml', contentKey: 'default', data })
      const page = await openPage(blockWith(clientGuide, 'new Editor', 'contentKey'), token)
      await expect
        .poll(() => page.innerHTML('.tiptap'))
        .toContain('<h3>Title</h3><p>Some <strong>words</strong></p>')
      await page.close()
    })
  })

  test('[K17.7] highlights of threads stay on their text in Tiptap while users and backends edit it, and while it is deleted and written again', async () => {
    const { tenant, token } = await createTenant()
    const code = `${blockWith(clientGuide, 'new Editor', 'contentKey')}\n${blockWith(clientGuide, 'highlightThreads')}`
    const page = await openPage(
      `${code}\nObject.assign(globalThis, { tiptap, comment, showThread, threads })`,
      token,
    )
    /** The highlighted texts, in the moment in which the code has run. */
    const highlightedAfter = (code: string) =>
      page.evaluate<string[]>(`(async () => {
        ${code}
        await null
        return [...document.querySelectorAll('.plenum-thread, .plenum-selection')].map((one) => one.textContent)
      })()`)
    const insert = (position: number, text: string) =>
      `tiptap.commands.insertContentAt(${position}, '${text}')`
    await page.click('.tiptap')
    await page.keyboard.type('Hello dear world')
    await highlightedAfter('tiptap.commands.setTextSelection({ from: 7, to: 11 })')
    await page.evaluate('comment("Who?")')
    await expect.poll(() => highlightedAfter('')).toEqual(['dear'])

    expect(await highlightedAfter(insert(1, 'Well: '))).toEqual(['dear'])
    expect(await highlightedAfter(insert(15, 'est'))).toEqual(['deestar'])
    expect(await highlightedAfter('tiptap.commands.deleteRange({ from: 15, to: 18 })')).toEqual(['dear'])
    // What is typed at the edges stays outside.
    expect(await highlightedAfter(`${insert(17, '.')}; ${insert(13, '.')}`)).toEqual(['dear'])
    expect(await highlightedAfter('tiptap.commands.setContent("<p>Nothing</p>")')).toEqual([])
    expect(await highlightedAfter('tiptap.commands.setContent("<h1>A</h1><p>My dear</p>")')).toEqual(['dear'])
    await expect.poll(() => readContent(tenant, 'article')).toContain('My dear')
    const data = '<heading level="1">A</heading><paragraph>Oh my dear!</paragraph>'
    await tenant.client.crdt.update({
      organizationId: 'acme',
      documentId: 'welcome',
      editorId: 'article',
      type: 'xml',
      data,
    })
    await expect.poll(() => page.innerText('.tiptap p')).toBe('Oh my dear!')
    expect(await highlightedAfter('')).toEqual(['dear'])

    await highlightedAfter('showThread(threads.threads[0])')
    expect(await page.evaluate('String(getSelection())')).toBe('dear')
    expect(
      await highlightedAfter('tiptap.commands.setTextSelection({ from: 4, to: 6 }); tiptap.view.dom.blur()'),
    ).toEqual(['Oh', 'dear'])
    await page.evaluate('threads.resolve(threads.threads[0].annotationId)')
    await expect.poll(() => highlightedAfter('')).toEqual(['Oh'])
    await page.close()
  })

  test('[E2] REST reads what a user types into CodeMirror, and CodeMirror shows a REST write', async () => {
    const { tenant, token } = await createTenant()
    const providerCode = blockWith(editorsGuide, 'WebsocketProvider')
    const page = await openPage(`${providerCode}\n${blockWith(editorsGuide, 'yCollab')}`, token)
    await page.click('.cm-content')
    await page.keyboard.press('Control+End')
    await page.keyboard.type('world')
    await expect.poll(() => readContent(tenant, 'notes')).toBe('Hello world')
    const editorRef = { organizationId: 'acme', documentId: 'welcome', editorId: 'notes' }
    await tenant.client.crdt.update({ ...editorRef, type: 'text', data: 'Hello backend' })
    await expect.poll(() => page.innerText('.cm-content')).toBe('Hello backend')
    await page.close()
  })
})
