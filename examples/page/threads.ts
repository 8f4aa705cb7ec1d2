import type { Thread, Threads } from '@plenum/client'
import { element, showName } from './elements.ts'
import type { Session } from './session.ts'

interface ThreadsView {
  /** The users who can be mentioned: `@bob`. */
  people: Session['people']
  /** The selected text, if a new thread should be about it. */
  selectedRange(): Parameters<Threads['add']>[0]['targetEditor']
  select(range: NonNullable<Thread['targetEditor']>): void
}

/** Shows the threads of a document beside its editor, and a form for a new one. */
export function showThreads(
  parent: HTMLElement,
  threads: Threads,
  { people, selectedRange, select }: ThreadsView,
): void {
  const list = element('ol', { className: 'thread-list' })
  const problem = element('output', { className: 'problem' })
  /** Runs a change, and shows why the server refused it. */
  const attempt = async (change: () => Promise<unknown>) => {
    problem.textContent = ''
    await change().catch((error: Error) => (problem.textContent = error.message))
  }
  /** `{{userId}}` mentions a user. */
  const written = (text: string) =>
    text.replaceAll(/@(\w+)/g, (all, name: string) =>
      people[name.toLowerCase()] ? `{{${name.toLowerCase()}}}` : all,
    )
  const readable = (text = '') => text.replaceAll(/\{\{(\w+)\}\}/g, (_, id: string) => `@${people[id] ?? id}`)

  const form = (label: string, onText: (commentText: string) => Promise<unknown>) => {
    const input = element('input', { name: 'text', placeholder: label, autocomplete: 'off' })
    input.setAttribute('aria-label', label)
    const created = element('form', { className: 'comment' }, input, element('button', {}, 'Send'))
    created.addEventListener('submit', (event) => {
      event.preventDefault()
      if (input.value.trim() === '') return
      void attempt(() => onText(written(input.value)))
      input.value = ''
    })
    return created
  }

  const shownThread = (thread: Thread) => {
    const { annotationId, comments, status, targetEditor: range, unread } = thread
    const isResolved = status.type === 'terminal'
    const item = element('li', { className: isResolved ? 'thread resolved' : 'thread' })
    if (unread) {
      item.dataset.unread = 'true'
      item.addEventListener('click', () => void attempt(() => threads.markViewed(annotationId)))
    }
    const change = element('button', { className: 'quiet' }, isResolved ? 'Reopen' : 'Resolve')
    change.addEventListener('click', () => {
      void attempt(() => threads[isResolved ? 'reopen' : 'resolve'](annotationId))
    })
    const top = element('div', { className: 'top' })
    if (range) {
      const quote = element('button', { className: 'quote', title: 'Show in the text' }, range.quote)
      quote.addEventListener('click', () => select(range))
      top.append(quote)
    }
    top.append(change)
    item.append(top)
    for (const { from, commentText } of comments) {
      item.append(
        element('p', {}, showName(from.name ?? from.userId, from.color), ' ', readable(commentText)),
      )
    }
    if (!isResolved) item.append(form('Reply', (commentText) => threads.reply(annotationId, { commentText })))
    return item
  }

  /** The list is not rendered again while a reply is being typed in it. */
  const render = () => {
    if ([...list.querySelectorAll('input')].some(({ value }) => value !== '')) return
    const empty = element('li', { className: 'hint' }, threads.isLoading ? 'Loading…' : 'No comments yet.')
    list.replaceChildren(...(threads.threads.length > 0 ? threads.threads.map(shownThread) : [empty]))
    problem.textContent = threads.error?.message ?? ''
  }
  list.addEventListener('change', render)
  threads.subscribe(render)
  parent.append(
    form('Add a comment', (commentText) => threads.add({ commentText, targetEditor: selectedRange() })),
    element('p', { className: 'hint' }, 'Select text to comment on it. @bob mentions Bob.'),
    problem,
    list,
  )
}
