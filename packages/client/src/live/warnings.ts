/** Keeps the console readable and bounds the memory for texts that were shown. */
const maxTexts = 50

/** Console warnings for developers. A production build shows none. */
export class Warnings {
  readonly #shown = new Set<string>()

  /** Shows each text once, however often its cause repeats. */
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

/** Bundlers replace `process.env.NODE_ENV`. Without a bundler it throws in a web page, which has no `process`. */
function isProduction(): boolean {
  try {
    return process.env.NODE_ENV === 'production'
  } catch {
    return false
  }
}
