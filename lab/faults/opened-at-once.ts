import { setTimeout as pause } from 'node:timers/promises'
import { createClient } from '@plenum/client'
import { WebSocket } from 'ws'
import { wordsIn } from '../../packages/server/test/support/random/words.ts'
import { type Fault, knowsNoOther, severalServers } from '../fault.ts'
import { readText } from '../oracle.ts'
import { editorId, organizationId } from '../raw-editor.ts'

export const openedAtOnce: Fault = {
  id: 'F16',
  title: 'clients of both servers open a new document at the same moment, and write',
  links: severalServers,
  trials: 500,
  seconds: 0.3,
  async run({ cluster, name, limitMs }) {
    const problems: string[] = []
    const connections = cluster.servers.map(({ url }) =>
      createClient({ url }).connect({ token: cluster.token, WebSocket, idle: false }),
    )
    try {
      const editors = connections.map((one) => one.document(organizationId, name).editor(editorId))
      const expected = editors.map((_, index) => `client ${index}`)
      for (const [index, { doc }] of editors.entries())
        doc.getText('content').insert(0, `<${expected[index]}>`)
      await Promise.all(editors.map((editor) => editor.whenSaved()))
      const savedAt = performance.now()
      const stored = wordsIn(await readText(cluster, cluster.balancer.url, name))
      const text = () => new Set(editors.map(({ doc }) => doc.getText('content').toJSON()))
      const haveAll = () => text().size === 1 && wordsIn([...text()].join()).length === expected.length
      while (!haveAll() && performance.now() - savedAt < limitMs) await pause(5)
      if (!haveAll()) problems.push('clients did not get the same content')
      return {
        acknowledged: expected.length,
        lost: expected.filter((word) => !stored.includes(word)).length,
        duplicated: stored.length - new Set(stored).size,
        ...(haveAll() && { convergeMs: performance.now() - savedAt }),
        problems,
      }
    } finally {
      for (const connection of connections) connection.close()
    }
  },
  control: knowsNoOther,
}
