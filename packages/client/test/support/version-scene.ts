import type { VersionInfo } from '@plenum/protocol/realtime'
import type { VersionEvent } from '../../src/index.ts'
import { useEditorScene } from './editor-scene.ts'
import { settle } from './fakes.ts'

export const version = (versionId: string, createdAt: number): VersionInfo => ({
  versionId,
  name: `Name of ${versionId}`,
  type: 'text',
  createdAt,
})

/** The steps of the tests about the versions of one editor. */
export function useVersionScene() {
  const { fakes, acceptAll, channel, deliverContent, refuse, sentFrames } = useEditorScene()

  /** The server accepts the editor and sends its empty content. */
  function acceptEditor(): void {
    acceptAll()
    deliverContent()
  }

  return {
    fakes,
    channel,
    refuse,
    sentFrames,
    acceptEditor,
    /** The last request of this type that the client sent. */
    lastSent: (type: 'listVersions' | 'addVersion' | 'restoreVersion') =>
      fakes.server.socket.sent(type).at(-1),
    async openVersions() {
      const connection = await fakes.connect()
      const editor = connection.document('org_1', 'doc_1').editor('note')
      const { versions } = editor
      const events: VersionEvent[] = []
      versions.subscribe((event) => events.push(event))
      return { connection, editor, versions, events }
    },
    async reconnect(): Promise<void> {
      fakes.server.socket.disconnect()
      await fakes.untilNextSocket()
      acceptEditor()
      await settle()
    },
  }
}
