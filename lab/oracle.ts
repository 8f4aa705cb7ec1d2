import { readFileSync } from 'node:fs'
import { ApiError } from '@plenum/client'
import type { ServerMessage } from '@plenum/protocol/realtime'
import { WebSocket } from 'ws'
import { textIn, wordsIn } from '../packages/server/test/support/random/words.ts'
import type { Cluster } from './cluster.ts'
import { editorId, organizationId } from './raw-editor.ts'
import type { WriterKind } from './writers.ts'

export interface Verdict {
  acknowledged: number
  /** Acknowledged, but not stored. */
  lost: string[]
  /** Stored more than once. */
  duplicated: string[]
}

/** How often each id is stored. */
type Counts = Map<string, number>

/** Compares what a fresh server reads from storage with the acknowledged writes in a log. */
export async function compareWithStored(cluster: Cluster, url: string, log: string): Promise<Verdict> {
  const acknowledged = readFileSync(log, 'utf8').split('\n').filter(Boolean)
  const stored: Counts = new Map()
  const places = new Set(acknowledged.map((line) => line.split(' ', 2).join(' ')))
  for (const place of places) {
    const [kind, documentId] = place.split(' ') as [WriterKind, string]
    for (const id of await readers[kind](cluster, url, documentId)) {
      const line = `${place} ${id}`
      stored.set(line, (stored.get(line) ?? 0) + 1)
    }
  }
  return {
    acknowledged: acknowledged.length,
    lost: acknowledged.filter((line) => !stored.has(line)),
    duplicated: [...stored].filter(([, count]) => count > 1).map(([line]) => line),
  }
}

/** Return the ids of all stored writes of a document. */
const readers: Record<WriterKind, (cluster: Cluster, url: string, documentId: string) => Promise<string[]>> =
  {
    editor: async (cluster, url, documentId) =>
      wordsIn(await readText(cluster, url, documentId).catch(textOfUnreadable)),
    liveState: readLiveStates,
    comment: readComments,
  }

/** The stored text of the editor of a document. */
export async function readText(cluster: Cluster, url: string, documentId: string): Promise<string> {
  const { data } = await cluster.client(url).crdt.get({ organizationId, documentId, editorId })
  return textIn(data[0] ?? {})
}

/** An editor that cannot be read has lost everything. */
function textOfUnreadable(error: unknown): string {
  if (error instanceof ApiError && 'unreadableEditorIds' in Object(error.details)) return ''
  throw error
}

/** Live states can be read on a socket only. */
async function readLiveStates({ token }: Cluster, url: string, documentId: string): Promise<string[]> {
  const socket = new WebSocket(`${url.replace(/^http/, 'ws')}/realtime`)
  try {
    return await new Promise((resolve, reject) => {
      socket.on('error', reject)
      socket.on('close', () => reject(new Error('The server closed the connection of the oracle.')))
      socket.on('open', () => {
        const topics = ['liveState']
        socket.send(JSON.stringify({ type: 'auth', token }))
        socket.send(JSON.stringify({ type: 'open', ref: 1, organizationId, documentId, topics }))
      })
      socket.on('message', (data: Buffer) => {
        const message = JSON.parse(data.toString()) as ServerMessage
        if (message.type !== 'opened') return
        resolve((message.liveStates ?? []).flatMap(({ data }) => Object.keys(data ?? {})))
      })
    })
  } finally {
    socket.terminate()
  }
}

async function readComments(cluster: Cluster, url: string, documentId: string): Promise<string[]> {
  const ids: string[] = []
  for (let pageToken: string | undefined, isMore = true; isMore; isMore = pageToken !== undefined) {
    const page = await cluster.client(url).commentAnnotations.get({
      organizationId,
      documentId,
      ...(pageToken !== undefined && { pageToken }),
    })
    for (const annotation of Object.values(page.data).flat()) {
      for (const comment of annotation?.comments ?? []) ids.push(comment.commentText ?? '')
    }
    pageToken = page.nextPageToken
  }
  return ids
}
