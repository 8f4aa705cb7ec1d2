/** Then the console is full enough, and the memory of what was shown does not grow. */
const maxTexts = 50

/** Warnings for developers. A build for production shows none. */
export class Warnings {
  readonly #shown = new Set<string>()

  /** Each text once, however often it is tried again. */
  once(text: string): void {
    if (this.#shown.has(text) || this.#shown.size >= maxTexts) return
    this.#shown.add(text)
    warn(text)
  }
}

export function warn(text: string): void {
  // oxlint-disable-next-line no-console -- for developers only
  if (!isProduction()) console.warn(`[plenum] ${text}`)
}

/** Bundlers replace the expression. Where nobody did and there is no `process`, as in a page, it throws. */
function isProduction(): boolean {
  try {
    return process.env.NODE_ENV === 'production'
  } catch {
    return false
  }
}
