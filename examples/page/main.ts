import { createClient } from '@plenum/client'
import { connectWithHocuspocus } from './hocuspocus.ts'
import { showCode, showRichText } from './editors.ts'
import type { Session } from './session.ts'
import { connectWithYWebsocket } from './y-websocket.ts'

async function post(path: string, body: object) {
  const response = await fetch(path, { method: 'POST', body: JSON.stringify(body) })
  if (!response.ok) throw new Error(await response.text())
  return response.json()
}

const signIn = (userId: string): Promise<Session> => post('/api/token', { userId })

async function showUser(userId: string, connect: typeof connectWithYWebsocket): Promise<Session> {
  const session = await signIn(userId)
  const section = document.querySelector(`#${userId}`) as HTMLElement
  section.innerHTML = `<h2>${session.user.name} <small class="status">…</small></h2><div class="rich"></div><div class="code"></div>`
  const find = (selector: string) => section.querySelector(selector) as HTMLElement
  const rich = connect('acme/welcome/text', session, (status) => {
    find('.status').textContent = status
  })
  const code = connect('acme/welcome/code', session, () => {})
  showRichText(find('.rich'), rich, session.user)
  showCode(find('.code'), code, session.user)
  return session
}

const [ada] = await Promise.all([
  showUser('ada', connectWithYWebsocket),
  showUser('bob', connectWithHocuspocus),
])

// Presence and the broadcasts of the backend use Plenum's own protocol, on a second connection of Ada.
const connection = createClient({ url: ada.plenumUrl }).connect({
  token: async () => (await signIn('ada')).token,
})
const welcome = connection.document('acme', 'welcome')
const list = document.querySelector('#users') as HTMLElement
welcome.presence.subscribe((users) => {
  list.replaceChildren(
    ...users.map(({ userId, name, onlineStatus }) => {
      const item = document.createElement('li')
      item.textContent = name ?? userId
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
