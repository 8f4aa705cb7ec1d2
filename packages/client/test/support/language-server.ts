import { spawn } from 'node:child_process'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

const root = resolve(import.meta.dirname, '../../../..')

/** The language server of TypeScript, asked as a code editor asks it. */
export class LanguageServer {
  readonly #process = spawn(process.execPath, [
    join(root, 'node_modules/typescript/bin/tsc'),
    '--lsp',
    '--stdio',
  ])
  readonly #answers = new Map<number, (message: { result?: unknown; error?: { message: string } }) => void>()
  #received = Buffer.alloc(0)
  #lastId = 0

  constructor() {
    this.#process.stdout.on('data', (bytes: Buffer) => this.#receive(bytes))
    this.#process.stderr.resume()
    this.#process.on('exit', () => {
      const error = { message: 'The language server process has exited.' }
      for (const answer of this.#answers.values()) answer({ error })
    })
  }

  async start(): Promise<void> {
    await this.#request('initialize', {
      processId: process.pid,
      rootUri: pathToFileURL(root).href,
      capabilities: { textDocument: { hover: { contentFormat: ['plaintext'] } } },
    })
    this.#send({ method: 'initialized', params: {} })
  }

  stop(): void {
    this.#process.kill()
  }

  /** Opens this text as the content of the file. The file need not exist. */
  open(file: string, text: string): void {
    const textDocument = { uri: uriOf(file), languageId: 'typescript', version: 1, text }
    this.#send({ method: 'textDocument/didOpen', params: { textDocument } })
  }

  /** Returns what a code editor shows when the pointer is on the first letter of the word. */
  async hover(file: string, text: string, word: string): Promise<string> {
    const answer = await this.#request('textDocument/hover', {
      textDocument: { uri: uriOf(file) },
      position: positionOf(text, text.indexOf(word)),
    })
    const { contents } = (answer ?? {}) as { contents?: { value: string } | string }
    return typeof contents === 'string' ? contents : (contents?.value ?? '')
  }

  /** Returns the names that a code editor offers at the mark `|`. */
  async completions(file: string, text: string): Promise<string[]> {
    const answer = await this.#request('textDocument/completion', {
      textDocument: { uri: uriOf(file) },
      position: positionOf(text, text.indexOf('|')),
    })
    const { items } = (answer ?? { items: [] }) as { items: { label: string }[] }
    return items.map(({ label }) => label)
  }

  #request(method: string, params: object): Promise<unknown> {
    const id = ++this.#lastId
    return new Promise((resolve, reject) => {
      this.#answers.set(id, ({ result, error }) =>
        error ? reject(new Error(error.message)) : resolve(result),
      )
      this.#send({ id, method, params })
    })
  }

  #send(message: object): void {
    const body = JSON.stringify({ jsonrpc: '2.0', ...message })
    this.#process.stdin.write(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`)
  }

  #receive(bytes: Buffer): void {
    this.#received = Buffer.concat([this.#received, bytes])
    for (;;) {
      const start = this.#received.indexOf('\r\n\r\n') + 4
      const length = Number(/Content-Length: (\d+)/i.exec(this.#received.subarray(0, start).toString())?.[1])
      if (start < 4 || this.#received.length < start + length) return
      const message = JSON.parse(this.#received.subarray(start, start + length).toString())
      this.#received = this.#received.subarray(start + length)
      // The server may ask for settings and the like. The answer is null.
      if (message.method !== undefined) {
        if (message.id !== undefined) this.#send({ id: message.id, result: null })
      } else {
        this.#answers.get(message.id)?.(message)
        this.#answers.delete(message.id)
      }
    }
  }
}

const uriOf = (file: string) => pathToFileURL(join(root, file)).href

function positionOf(text: string, offset: number) {
  const lines = text.slice(0, offset).split('\n')
  return { line: lines.length - 1, character: lines.at(-1)?.length ?? 0 }
}
