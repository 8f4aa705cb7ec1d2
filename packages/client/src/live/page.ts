export interface PageHandlers {
  /** The network is back. */
  online(): void
  /** False: the page is left, perhaps to be shown again. */
  shown(isShown: boolean): void
}

/** Follows the page or worker that this runs in, if it is one. Gives what ends that. */
export function watchPage({ online, shown }: PageHandlers): () => void {
  if (typeof globalThis.addEventListener !== 'function') return () => {}
  const events: Record<string, () => void> = {
    online,
    pagehide: () => shown(false),
    pageshow: () => shown(true),
  }
  for (const [name, listener] of Object.entries(events)) globalThis.addEventListener(name, listener)
  return () => {
    for (const [name, listener] of Object.entries(events)) globalThis.removeEventListener(name, listener)
  }
}
