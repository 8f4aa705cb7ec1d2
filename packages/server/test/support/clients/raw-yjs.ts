import * as decoding from 'lib0/decoding'
import type { TestServer } from '../harness.ts'
import { covers, emptyUpdate, isEmptyUpdate } from '../random/words.ts'
import { type EditorTarget, type MessageKind, RawClient, type WriteOutcome } from './raw-client.ts'
import { socketUrl } from './raw-socket.ts'
import { encodeYjs, nameOf, readSync } from './yjs-messages.ts'

/** A client of the y-websocket dialect. */
export class RawYjs extends RawClient {
  readonly #received: Uint8Array[] = []

  constructor(server: Pick<TestServer, 'url'>, target: EditorTarget, path = `/yjs/${nameOf(target)}`) {
    const query = target.token === undefined ? '' : `?token=${target.token}`
    super(socketUrl(server, `${path}${query}`), target)
  }

  protected firstMessages(): Uint8Array[] {
    return []
  }

  encode(kind: MessageKind, bytes: Uint8Array): Uint8Array {
    return encodeYjs(kind, bytes)
  }

  override update(update: Uint8Array): Promise<WriteOutcome> {
    return this.#withReceipt(super.update(update))
  }

  override syncStep2(update: Uint8Array): Promise<WriteOutcome> {
    return this.#withReceipt(super.syncStep2(update))
  }

  /** A refused update may have no answer. So an empty update follows each update: the server always echoes an empty one. */
  #withReceipt(outcome: Promise<WriteOutcome>): Promise<WriteOutcome> {
    this.send(this.encode('syncStep2', emptyUpdate))
    this.requestReceipt()
    return outcome
  }

  protected requestReceipt(): void {}

  /** Settles the first update without an outcome. It is saved if this client has received its changes from the server. */
  protected onReceipt(): void {
    const [first] = this.writes
    if (first)
      this.settleFirst(this.#received.some((update) => covers(update, first.update)) ? 'saved' : 'refused')
  }

  protected receive(data: Buffer): void {
    const decoder = decoding.createDecoder(data)
    const type = decoding.readVarUint(decoder)
    if (type === 0) {
      readSync(decoder, (kind, bytes) => {
        this.onMessage(kind, bytes)
        if (kind === 'syncStep1') this.onOpened()
      })
    } else if (type === 1) this.onMessage('awareness', decoding.readVarUint8Array(decoder))
    else if (type === 2 && decoding.readVarUint(decoder) === 0) {
      this.refusalTexts.push(decoding.readVarString(decoder))
    }
  }

  protected override onUpdate(update: Uint8Array): void {
    if (isEmptyUpdate(update)) this.onReceipt()
    else this.#received.push(update)
  }
}
