interface PageHandlers {
  /** The network is back, or the page is visible again. A connection that seems open may be dead. */
  onWake(): void
  /** The browser has no network. */
  onOffline(): void
  /** The user leaves the page (false), or comes back to it from the browser's cache (true). */
  onShown(isShown: boolean): void
}

/** Watches the web page or worker that runs this code, if there is one. Returns a function that stops watching. */
export function watchPage({ onWake, onOffline, onShown }: PageHandlers): () => void {
  if (typeof globalThis.addEventListener !== 'function') return () => {}
  const page = globalThis.document as Document | undefined
  const events: [target: EventTarget | undefined, name: string, listener: () => void][] = [
    [globalThis, 'online', onWake],
    [globalThis, 'offline', onOffline],
    [globalThis, 'pagehide', () => onShown(false)],
    [globalThis, 'pageshow', () => onShown(true)],
    [page, 'visibilitychange', () => page?.hidden || onWake()],
  ]
  for (const [target, name, listener] of events) target?.addEventListener(name, listener)
  return () => {
    for (const [target, name, listener] of events) target?.removeEventListener(name, listener)
  }
}
