import { createClient } from '../../packages/client/src/index.ts'
import type { Attack } from '../attack.ts'
import { userToken } from '../tenant.ts'

const documentRef = { organizationId: 'org_1', documentId: 'doc_1' } as const
const threadCount = 60
const commentsPerThread = 33
/** Together with the comments almost 1 MiB, which is the limit of a body. */
const contextLength = 16_000

/** One user adds threads of many comments, each with a large annotation, again and again. */
export const largeThreads: Attack = {
  name: 'threads with large contexts, added by one user',
  maxMegabytes: 300,
  async prepare({ url, attacker, size }) {
    const { organizationId, documentId } = documentRef
    await attacker.client.organizations.add({ organizations: [{ organizationId }] })
    await attacker.client.documents.add({ organizationId, documents: [{ documentId }] })
    const user = createClient({ url, retries: 0, token: await userToken(attacker, 'ada') })
    const commentAnnotations = Array.from({ length: threadCount }, (_, index) => ({
      context: { text: String(index % 10).repeat(contextLength) },
      commentData: Array.from({ length: commentsPerThread }, () => ({ commentText: 'x' })),
    }))
    return async () => {
      for (let call = 0; call < (size === 'short' ? 2 : 12); call++) {
        await user.commentAnnotations.add({ ...documentRef, commentAnnotations })
      }
    }
  },
}
