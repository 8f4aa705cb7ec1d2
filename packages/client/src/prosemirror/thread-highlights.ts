import { type EditorState, Plugin, PluginKey } from 'prosemirror-state'
import { Decoration, DecorationSet, type EditorView } from 'prosemirror-view'
import type { Thread, Threads } from '../live/threads/threads.ts'
import { placeFinder, type TextPlace } from './ranges.ts'

export interface HighlightOptions {
  /** The threads of the document: `document.threads`. */
  threads: Pick<Threads, 'threads' | 'subscribe'>
  /** The id of the editor. Threads about other editors are not shown. */
  editorId: string
  /** Which threads are shown. Default: those that are not resolved. */
  isShown?: (thread: Thread) => boolean
}

/** A highlighted text. */
interface Highlight extends TextPlace {
  /** Undefined: the selection. */
  annotationId: string | undefined
}

/**
 * A plugin for ProseMirror and Tiptap. It highlights the text of threads with the class `plenum-thread` and the attribute
 * `data-annotation-id`, and the selection with `plenum-selection` while the editor is not focused, such as while the user
 * types a comment about it. Each editor needs a plugin of its own.
 *
 * ```ts
 * tiptap.registerPlugin(highlightThreads({ threads: document.threads, editorId: 'article' }))
 * ```
 */
export function highlightThreads({ threads, editorId, isShown = isOpen }: HighlightOptions): Plugin {
  const key = new PluginKey<DecorationSet>('plenum-threads')

  const findThreads = (state: EditorState): Highlight[] => {
    const find = placeFinder(state)
    return threads.threads.flatMap((thread) => {
      const { annotationId, targetEditor: range } = thread
      if (range?.editorId !== editorId || !isShown(thread)) return []
      const place = find(range)
      return place ? [{ annotationId, ...place }] : []
    })
  }

  return new Plugin<DecorationSet>({
    key,
    state: {
      init: () => DecorationSet.empty,
      // The `Y.Doc` does not have a local edit yet, so ranges would be found where they were. They are found a moment later.
      apply: (transaction, shown) =>
        (transaction.getMeta(key) as DecorationSet | undefined) ??
        shown.map(transaction.mapping, transaction.doc),
    },
    props: { decorations: (state) => key.getState(state) },
    view(view) {
      let found: { doc: EditorState['doc']; highlights: Highlight[] } | undefined
      let isScheduled = false
      const show = () => {
        isScheduled = false
        if (view.isDestroyed) return
        const { state } = view
        if (found?.doc !== state.doc) found = { doc: state.doc, highlights: findThreads(state) }
        const highlights = [...found.highlights, ...selectionBehind(view)]
        const shown = key.getState(state)?.find().map(highlightOf) ?? []
        if (namesOf(shown) === namesOf(highlights)) return
        view.dispatch(state.tr.setMeta(key, DecorationSet.create(state.doc, highlights.map(decorationOf))))
      }
      /** After the other plugins have seen the change, and before the browser draws it. */
      const schedule = () => {
        if (!isScheduled) queueMicrotask(show)
        isScheduled = true
      }
      const unsubscribe = threads.subscribe(() => {
        found = undefined
        schedule()
      })
      view.dom.addEventListener('focus', schedule)
      view.dom.addEventListener('blur', schedule)
      schedule()
      return {
        update(view, { doc, selection }) {
          if (doc !== view.state.doc || !selection.eq(view.state.selection)) schedule()
        },
        destroy() {
          unsubscribe()
          view.dom.removeEventListener('focus', schedule)
          view.dom.removeEventListener('blur', schedule)
        },
      }
    },
  })
}

const isOpen = ({ status }: Thread) => status.type !== 'terminal'

function selectionBehind(view: EditorView): Highlight[] {
  const { from, to, empty } = view.state.selection
  return empty || view.hasFocus() ? [] : [{ annotationId: undefined, from, to }]
}

const decorationOf = ({ annotationId, from, to }: Highlight) =>
  annotationId === undefined
    ? Decoration.inline(from, to, { class: 'plenum-selection' }, {})
    : Decoration.inline(
        from,
        to,
        { class: 'plenum-thread', 'data-annotation-id': annotationId },
        { annotationId },
      )

const highlightOf = ({ from, to, spec }: Decoration): Highlight => ({
  annotationId: (spec as Pick<Highlight, 'annotationId'>).annotationId,
  from,
  to,
})

const namesOf = (highlights: readonly Highlight[]) =>
  highlights
    .map(({ annotationId, from, to }) => `${from} ${to} ${annotationId}`)
    .sort()
    .join('\n')
