import type { ApiError } from '@plenum/protocol/errors'
import type { ClientMessage, ServerMessage } from '@plenum/protocol/realtime'
import type { Ending, Status } from '../status.ts'
import type { EditorFrame } from './frames.ts'

export type EditorMessage = ServerMessage & {
  type: 'editorOpened' | 'editorClosed' | 'versionAdded' | 'versionRestored' | 'versionsChanged'
}

/** Receives what the server sends on a channel. */
export interface ChannelReceiver {
  receive(message: EditorMessage): void
  receiveFrame(frame: EditorFrame): void
  /** The server refused a message. It refuses changes of the content with a frame instead. */
  reportError(error: ApiError): void
}

/** What an editor needs from the connection. */
export interface EditorConnection {
  send(message: ClientMessage): void
  sendBytes(bytes: Uint8Array<ArrayBuffer>): void
  /** Returns a number that was never a channel before, so late messages to a channel that was freed reach no editor. */
  newChannel(receiver: ChannelReceiver): number
  freeChannel(channel: number): void
  /** `onOutcome` is never called if the connection is lost before the answer. */
  request(
    message: (id: number) => ClientMessage,
    onOutcome: (outcome: (ServerMessage & { type: 'done' }) | ApiError) => void,
  ): void
}

/** What an editor needs from its document. */
export interface EditorDocument {
  readonly connection: EditorConnection
  /** Names the document in messages to people. */
  readonly name: string
  readonly status: Status
  readonly reason: ApiError | undefined
  readonly ended: Ending | undefined
  /** Why nothing can be sent any more. */
  readonly failure: ApiError | undefined
  /** The ref under which the document is open at the server. Undefined while it is not open. */
  readonly openRef: number | undefined
  /** `isHandled`: the editor has a listener for the error. */
  reportError(error: ApiError, isHandled: boolean): void
  /** Ends the document, because the server closed one of its editors with the code `gone`. */
  end(ending: Ending): void
  onEditorClosed(editorId: string): void
  retry(): void
}
