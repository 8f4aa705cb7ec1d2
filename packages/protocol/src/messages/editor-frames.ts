import type { editorFrames } from '../realtime.ts'

interface EditorFrame {
  /** The parts of the frame behind the channel and the kind. Undefined: this side does not send the frame. */
  client?: readonly string[]
  server?: readonly string[]
  meaning: string
}

const awareness = 'awareness update of y-protocols'

/** What the binary frames of an editor contain, for the reference page. */
export const editorFrameContents: Readonly<Record<keyof typeof editorFrames, EditorFrame>> = {
  syncStep1: {
    client: ['state vector'],
    server: ['state vector'],
    meaning: 'What the sender has. The other side answers with syncStep2.',
  },
  syncStep2: {
    client: ['number', 'update'],
    server: ['update'],
    meaning: 'What the receiver of the answer lacks.',
  },
  update: {
    client: ['number', 'update'],
    server: ['update'],
    meaning:
      'A change. The server sends it to all clients in the editor, including the sender, once it is on disk.',
  },
  awareness: {
    client: [awareness],
    server: [awareness],
    meaning: 'Awareness states, such as cursors. A client may send only its own.',
  },
  saved: {
    server: ['number'],
    meaning:
      'The update with this number and all updates of the client before it are on disk, except refused ones.',
  },
  refused: {
    server: ['number', 'reason', 'status'],
    meaning: 'The update with this number is not stored.',
  },
}
