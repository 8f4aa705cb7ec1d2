import type { EditorRange, LocatedRange } from '@plenum/protocol'
import * as Y from 'yjs'
import { synced } from '../clients/convergence.ts'
import { hocuspocusClient } from '../clients/hocuspocus-client.ts'
import * as given from '../given.ts'
import type { TestServer } from '../harness.ts'
import { tokenFor } from '../access/user-tokens.ts'

export const organizationId = 'org_1'
export const documentRef = { organizationId, documentId: 'doc_1' }
export const editorRef = { ...documentRef, editorId: 'note' }

export const commentData = [{ commentText: 'x', from: { userId: 'ada' } }]

/** A tenant whose document has the editor `note` with this text. */
export async function sceneWithText(server: TestServer, data = 'The quick brown fox jumps.') {
  const tenant = await given.tenant(server)
  const { client } = tenant
  await given.document(tenant)
  await client.crdt.add({ ...editorRef, type: 'text', data })
  return {
    ...tenant,
    /** Adds an annotation about a range. */
    add: (range: object, annotationId = 'a1', by = client) =>
      by.commentAnnotations.add({
        ...documentRef,
        commentAnnotations: [
          { annotationId, commentData, targetEditor: { editorId: 'note', ...range } as EditorRange },
        ],
      }),
    /** The ranges of all annotations, the newest first. */
    ranges: async (documentId = 'doc_1'): Promise<LocatedRange[]> => {
      const { data } = await client.commentAnnotations.get({ organizationId, documentId })
      return (data as { targetEditor: LocatedRange }[]).map(({ targetEditor }) => targetEditor)
    },
    /** A real client in an editor. */
    open: async (userId = 'ada', editorId = 'note') => {
      const name = `org_1/doc_1/${editorId}`
      const opened = hocuspocusClient(server, await tokenFor(tenant, userId), { name })
      await synced(opened)
      return opened
    },
  }
}

/** The text between the positions, as a client computes it. */
export function textIn(doc: Y.Doc, { anchor, head }: Pick<LocatedRange, 'anchor' | 'head'>): string {
  const [a, h] = [anchor, head].map((position) =>
    Y.createAbsolutePositionFromRelativePosition(Y.createRelativePositionFromJSON(position), doc),
  )
  if (!a || !h) throw new Error('A position has no place.')
  return (a.type as Y.Text).toString().slice(a.index, h.index)
}

/** A position as clients send it. */
export const positionIn = (type: Y.Text | Y.XmlFragment, index: number, assoc?: number): object =>
  Y.relativePositionToJSON(Y.createRelativePositionFromTypeIndex(type, index, assoc)) as object
