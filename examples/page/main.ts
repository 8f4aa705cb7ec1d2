import { createClient, type LiveDocument } from '@plenum/client'
import { highlightThreads, rangeOfSelection, selectRange } from '@plenum/client/prosemirror'
import { connectWithHocuspocus } from './hocuspocus.ts'
import { showCode, showRichText } from './editors.ts'
import { element, showName } from './elements.ts'
import { showInbox } from './inbox.ts'
import type { Session } from './session.ts'
import { showThreads } from './threads.ts'
import { connectWithYWebsocket } from './y-websocket.ts'

async function post(path: string, body: object) {
  const response = await fetch(path, { method: 'POST', body: JSON.stringify(body) })
  if (!response.ok) throw new Error(await response.text())
  return response.json()
}

const signIn = (userId: string): Promise<Session> => post('/api/token', { userId })

/** Shows the page of a user. Returns the document of the user's connection. */
async function showUser(userId: string, connect: typeof connectWithYWebsocket): Promise<LiveDocument> {
  const session = await signIn(userId)
  const { user, people, plenumUrl } = session
  const status = element('small', { className: 'status' }, '…')
  const heading = element('h2', {}, showName(user.name, user.color), status)
  const [rich, code] = [element('div', { className: 'rich' }), element('div', { className: 'code' })]
  const threads = element('aside', { className: 'threads', ariaLabel: 'Comments' })
  const editors = element('div', {}, rich, code)
  document
    .querySelector(`#${userId}`)
    ?.replaceChildren(heading, element('div', { className: 'desk' }, editors, threads))

  // The editors connect through providers that know nothing of Plenum.
  const richDoc = connect('acme/welcome/text', session, (text) => {
    status.textContent = text
  })
  const tiptap = showRichText(rich, richDoc, user)
  showCode(
    code,
    connect('acme/welcome/code', session, () => {}),
    user,
  )

  // Presence, broadcasts, comments and the inbox use Plenum's own protocol, on a second connection.
  const connection = createClient({ url: plenumUrl }).connect({
    token: async () => (await signIn(userId)).token,
  })
  const welcome = connection.document('acme', 'welcome')
  showInbox(heading, connection.inbox('acme'))
  tiptap.registerPlugin(highlightThreads({ threads: welcome.threads, editorId: 'text' }))
  showThreads(threads, welcome.threads, {
    people,
    selectedRange: () => rangeOfSelection(tiptap.state, 'text'),
    select: (range) => selectRange(tiptap.view, range),
  })
  return welcome
}

const [welcome] = await Promise.all([
  showUser('ada', connectWithYWebsocket),
  showUser('bob', connectWithHocuspocus),
])

const list = document.querySelector('#users') as HTMLElement
welcome.presence.subscribe((users) => {
  list.replaceChildren(
    ...users.map(({ userId, name, onlineStatus }) => {
      const item = element('li', {}, name ?? userId)
      item.dataset.status = onlineStatus
      return item
    }),
  )
})
const banner = welcome.liveState<{ text: string }>('banner')
banner.subscribe((value) => {
  ;(document.querySelector('#banner') as HTMLElement).textContent = value?.text ?? ''
})

const form = document.querySelector('#broadcast') as HTMLFormElement
form.addEventListener('submit', (event) => {
  event.preventDefault()
  void post('/api/broadcast', { text: new FormData(form).get('text') })
  form.reset()
})
