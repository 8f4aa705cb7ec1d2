import { setTimeout as pause } from 'node:timers/promises'
import { createClient } from '@plenum/client'
import { WebSocket } from 'ws'
import { wordsIn } from '../../packages/server/test/support/random/words.ts'
import { createDocuments } from '../documents.ts'
import { type Fault, type Result, type Scene, severalServers } from '../fault.ts'
import { editorId, organizationId, RawEditor } from '../raw-editor.ts'
import type { ServerProcess } from '../../packages/server/test/support/processes/server-process.ts'

const maxWrites = 3
const maxOffsetMs = 20

interface Places {
  left: ServerProcess
  joined: ServerProcess
  writes: number
}

async function leaveAndJoin(scene: Scene, { left, joined, writes }: Places): Promise<Result> {
  const { cluster, name, random, limitMs } = scene
  const { token } = cluster
  await createDocuments(cluster, [name])
  const acknowledged: string[] = []
  const leaver = new RawEditor({ url: left.url, token, documentId: name }, (ids) => acknowledged.push(...ids))
  if (!(await leaver.opened)) throw new Error('The server has not opened the editor.')
  for (let index = 0; index < writes; index++) leaver.write(`word ${index}`)
  const deadline = Date.now() + limitMs
  while (acknowledged.length < writes && Date.now() < deadline) await pause(1)
  leaver.write('not acknowledged')
  leaver.terminate()
  await pause(random(maxOffsetMs))
  const connection = createClient({ url: joined.url }).connect({ token, WebSocket, idle: false })
  try {
    const editor = connection.document(organizationId, name).editor(editorId)
    await editor.whenSynced
    const found = wordsIn(editor.doc.getText('content').toJSON())
    return {
      acknowledged: acknowledged.length,
      lost: acknowledged.filter((word) => !found.includes(word)).length,
      duplicated: found.length - new Set(found).size,
      problems: acknowledged.length < writes ? ['a write was not acknowledged'] : [],
    }
  } finally {
    connection.close()
  }
}

export const leftAndJoined: Fault = {
  id: 'F17',
  title: `the last client leaves an editor, and up to ${maxOffsetMs} ms later another one joins`,
  links: severalServers,
  trials: 500,
  seconds: 0.3,
  run(scene) {
    const { cluster, random } = scene
    const [left, joined] = [random.of(cluster.servers), random.of(cluster.servers)]
    return leaveAndJoin(scene, { left, joined, writes: 1 + random(maxWrites) })
  },
  control: {
    name: 'servers that acknowledge before they commit',
    cluster: { program: 'earlyAnswers' },
    run(scene) {
      const [left, joined] = scene.cluster.servers as [ServerProcess, ServerProcess]
      return leaveAndJoin(scene, { left, joined, writes: 1 })
    },
  },
}
