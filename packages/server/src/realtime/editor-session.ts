import * as decoding from 'lib0/decoding'
import type { CloseReason } from '@plenum/protocol/realtime'
import type { EditorRoom, Framing, Member } from './editor-room.ts'
import type { Participant } from './participant.ts'
import type { Fault } from './validate-update.ts'

/** How a dialect speaks to one client about one editor. */
export interface Voice extends Framing {
  syncStep1(stateVector: Uint8Array): Buffer
  syncStep2(update: Uint8Array): Buffer
  /** The update with the client's number is durable. Not `isNews`: it was known before. */
  saved?(number: number, update: Uint8Array, isNews: boolean): Buffer | undefined
  /** It is not stored; the connection goes on. `isRepeated`: the one before was refused as well. */
  refused?(number: number, message: string, isRepeated: boolean): Buffer | undefined
}

interface Opening {
  /** False where the client asks first and is asked back. */
  asks?: boolean
  describe?: (room: EditorRoom) => void
}

/** Bytes that may wait in a room before its senders are made to wait. */
const mostWaiting = 256 * 1024
/** A client is asked for what is missing no more often than this. */
const askAgainMs = 1_000

const readOnly = 'The user may read this document, but not change it.'

/** One client in one editor, in whatever dialect. */
export class EditorSession implements Member {
  readonly framing: Voice
  readonly sessionId: string
  readonly #participant: Participant
  readonly #ended: (reason: CloseReason, message: string) => void
  #room: EditorRoom | undefined
  #waiting: ((room: EditorRoom) => void)[] = []
  #askedAt = -Infinity
  #missedAwareness = false
  #wasRefused = false
  #hasLeft = false

  constructor(options: {
    sessionId: string
    participant: Participant
    voice: Voice
    ended: (reason: CloseReason, message: string) => void
  }) {
    this.sessionId = options.sessionId
    this.framing = options.voice
    this.#participant = options.participant
    this.#ended = options.ended
  }

  get userId(): string {
    return this.#participant.identity.userId
  }

  get email(): string | undefined {
    return this.#participant.identity.email
  }

  /** Loads the editor and greets the client: with who is there, and with what we know, so that it sends the rest. */
  open(editorId: string, { asks = true, describe }: Opening = {}): void {
    const { document, connection } = this.#participant
    connection.hold()
    document
      .editor(editorId)
      .then(
        (room) => {
          if (this.#hasLeft) return
          this.#room = room
          describe?.(room)
          room.members.add(this)
          if (asks) this.askForMore()
          if (room.awareness.size > 0) this.send(this.framing.awareness(room.awareness.all()))
          for (const work of this.#waiting.splice(0)) work(room)
        },
        () => this.end('unavailable', 'The document cannot be read.'),
      )
      .finally(() => connection.release())
  }

  /** What the client asks for counts once it is judged and the editor is loaded. */
  #run(work: (room: EditorRoom) => void): void {
    this.#participant.run(() => {
      if (this.#hasLeft) return
      if (this.#room) work(this.#room)
      else this.#waiting.push(work)
    })
  }

  syncStep1(stateVector: Uint8Array, asksBack: boolean): void {
    this.#run((room) => {
      if (!isStateVector(stateVector)) return this.end('badMessage', 'Malformed state vector.')
      room.missingFor(stateVector).then(
        (update) => {
          this.#participant.connection.answer(this.framing.syncStep2(update))
          if (asksBack) this.#ask(room)
        },
        () => this.end('unavailable', 'The document cannot be read.'),
      )
    })
  }

  /** An update, or with `isAnswer` all that the server lacked, which may be nothing. */
  update(number: number, update: Uint8Array, isAnswer: boolean): void {
    this.#run((room) => {
      if (this.#participant.canWrite) this.#submit(room, number, update)
      else if (isAnswer && room.knows(update)) this.#saved(number, update, false)
      else this.#refused(number, readOnly)
    })
  }

  #submit(room: EditorRoom, number: number, update: Uint8Array): void {
    const { connection, document } = this.#participant
    document.active(this.#participant)
    let isHeld = false
    const settle = () => {
      if (isHeld) connection.release()
    }
    room.submit(this, update, {
      saved: (_seq, isNews) => {
        settle()
        this.#saved(number, update, isNews)
      },
      refused: (fault) => {
        settle()
        if (isBearable(fault)) this.#refused(number, fault.message)
        else this.end('invalidUpdate', fault.message)
      },
    })
    if (room.queuedBytes > mostWaiting) {
      isHeld = true
      connection.hold()
    }
  }

  #saved(number: number, update: Uint8Array, isNews: boolean): void {
    this.#wasRefused = false
    const frame = this.framing.saved?.(number, update, isNews)
    if (frame) this.send(frame)
  }

  #refused(number: number, message: string): void {
    const frame = this.framing.refused?.(number, message, this.#wasRefused)
    this.#wasRefused = true
    if (frame) this.send(frame)
  }

  awareness(update: Uint8Array): void {
    this.#run((room) => {
      if (!room.awareness.receive(this, update)) return this.end('badMessage', 'Malformed awareness update.')
      room.awarenessChanged()
    })
  }

  queryAwareness(): void {
    this.#run((room) => this.send(this.framing.awareness(room.awareness.all())))
  }

  askForMore(): void {
    const now = performance.now()
    if (this.#room && now - this.#askedAt >= askAgainMs) this.#ask(this.#room, now)
  }

  #ask(room: EditorRoom, now = performance.now()): void {
    this.#askedAt = now
    this.send(this.framing.syncStep1(room.stateVector()))
  }

  send(frame: Buffer): void {
    this.#participant.connection.send(frame)
  }

  sendIfQuick(frame: Buffer): void {
    if (this.#participant.connection.isBehind) this.#missedAwareness = true
    else this.send(frame)
  }

  /** Called every now and then. */
  makeUp(): void {
    if (!this.#missedAwareness || this.#participant.connection.isBehind || !this.#room) return
    this.#missedAwareness = false
    this.send(this.framing.awareness(this.#room.awareness.all()))
  }

  end(reason: CloseReason, message: string): void {
    if (this.#hasLeft) return
    this.leave()
    this.#ended(reason, message)
  }

  leave(): void {
    if (this.#hasLeft) return
    this.#hasLeft = true
    this.#waiting = []
    if (!this.#room) return
    this.#room.members.delete(this)
    this.#room.awareness.leave(this.sessionId)
    this.#room.awarenessChanged()
  }
}

function isStateVector(bytes: Uint8Array): boolean {
  try {
    const decoder = decoding.createDecoder(bytes)
    for (let left = decoding.readVarUint(decoder) * 2; left > 0; left--) decoding.readVarUint(decoder)
    return !decoding.hasContent(decoder)
  } catch {
    return false
  }
}

/** Whether an honest client may have sent it. */
const isBearable = ({ code }: Fault) =>
  code === 'gap' || code === 'future_delete' || code === 'foreign_client'
