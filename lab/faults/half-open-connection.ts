import { setTimeout as pause } from 'node:timers/promises'
import { createClient } from '@plenum/client'
import { WebSocket } from 'ws'
import { wordsIn } from '../../packages/server/test/support/random/words.ts'
import { userToken } from '../../attack/tenant.ts'
import { readText } from '../oracle.ts'
import type { Fault, Result, Scene } from '../fault.ts'
import { Proxy } from '../../packages/server/test/support/faults/proxy.ts'
import { editorId, organizationId } from '../raw-editor.ts'

/** Within this time the server must have noticed that it cannot reach a client. */
const noticeMs = 35_000
const backMs = 20_000
/** What the users write: before the network falls silent, meanwhile, and meanwhile on the other server. */
const words = ['before', 'meanwhile', 'other'] as const

async function loseNetwork(scene: Scene, isSilent: boolean): Promise<Result> {
  const { cluster, name, random } = scene
  const problems: string[] = []
  const [server, other] = random(2) === 0 ? cluster.servers : cluster.servers.toReversed()
  if (!server || !other) throw new Error('This fault needs two servers.')
  const proxy = await Proxy.start(server.url)
  const open = (url: string, token: string) => {
    const connection = createClient({ url }).connect({ token, WebSocket, idle: false })
    connection.on('error', () => {})
    const document = connection.document(organizationId, name)
    return { connection, document, editor: document.editor(editorId) }
  }
  const tenant = { ...cluster.tenant, client: cluster.client() }
  const lost = open(proxy.url, await userToken(tenant, 'lost'))
  const watcher = open(other.url, cluster.token)
  const isPresent = () => watcher.document.presence.others.some(({ userId }) => userId === 'lost')
  const until = async (condition: () => boolean, limitMs: number) => {
    for (const deadline = Date.now() + limitMs; Date.now() < deadline; await pause(20))
      if (condition()) return true
    return condition()
  }
  try {
    await Promise.all([lost.editor.whenSynced, watcher.editor.whenSynced])
    if (!(await until(isPresent, backMs))) problems.push('a user was not shown on the other server')
    lost.editor.doc.getText('content').insert(0, `<${words[0]}>`)
    await lost.editor.whenSaved()
    if (isSilent) proxy.pass('none')
    lost.editor.doc.getText('content').insert(0, `<${words[1]}>`)
    watcher.editor.doc.getText('content').insert(0, `<${words[2]}>`)
    await watcher.editor.whenSaved()
    if (!(await until(() => !isPresent(), noticeMs))) problems.push('a user who is gone was still shown')
    proxy.restore()
    lost.connection.reconnect()
    const beganAt = performance.now()
    const texts = () => new Set([lost, watcher].map(({ editor }) => editor.doc.getText('content').toJSON()))
    const haveAll = () => texts().size === 1 && wordsIn([...texts()].join()).length === words.length
    const areEqual = await until(haveAll, backMs)
    if (!areEqual) problems.push('clients did not get the same content')
    const convergeMs = performance.now() - beganAt
    await lost.editor.whenSaved()
    const stored = wordsIn(await readText(cluster, cluster.balancer.url, name))
    return {
      acknowledged: words.length,
      lost: words.filter((word) => !stored.includes(word)).length,
      duplicated: stored.length - new Set(stored).size,
      ...(areEqual && { convergeMs }),
      problems,
    }
  } finally {
    for (const { connection } of [lost, watcher]) connection.close()
    proxy.close()
  }
}

export const halfOpenConnection: Fault = {
  id: 'F13',
  title: 'the network of a client falls silent, without a closed connection',
  links: ['postgres', 'redis'],
  trials: 3,
  seconds: 40,
  run: (scene) => loseNetwork(scene, true),
  control: {
    name: 'a network that does not fall silent',
    shows: 'problems',
    run: (scene) => loseNetwork(scene, false),
  },
}
