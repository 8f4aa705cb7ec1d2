export interface PageHandlers {
  /** The network is back, or somebody looks at the page again: a connection that seems alive may be dead. */
  awake(): void
  /** False: the page is left, perhaps to be shown again. */
  shown(isShown: boolean): void
}

/** Follows the page or worker that this runs in, if it is one. Gives what ends that. */
export function watchPage({ awake, shown }: PageHandlers): () => void {
  if (typeof globalThis.addEventListener !== 'function') return () => {}
  const page = globalThis.document as Document | undefined
  const events: [target: EventTarget | undefined, name: string, listener: () => void][] = [
    [globalThis, 'online', awake],
    [globalThis, 'pagehide', () => shown(false)],
    [globalThis, 'pageshow', () => shown(true)],
    [page, 'visibilitychange', () => page?.hidden || awake()],
  ]
  for (const [target, name, listener] of events) target?.addEventListener(name, listener)
  return () => {
    for (const [target, name, listener] of events) target?.removeEventListener(name, listener)
  }
}
