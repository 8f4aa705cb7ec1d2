import * as decoding from 'lib0/decoding'
import type { TestServer } from '../harness.ts'
import { encodeMessage } from './encode-message.ts'
import { type EditorTarget, type MessageKind, RawClient } from './raw-client.ts'
import { socketUrl } from './raw-socket.ts'
import { encodeYjs, nameOf, readSync } from './yjs-messages.ts'

/** A client of the Hocuspocus dialect, with one editor on its socket. */
export class RawHocuspocus extends RawClient {
  readonly #name: string

  constructor(server: Pick<TestServer, 'url'>, target: EditorTarget) {
    super(socketUrl(server, '/hocuspocus'), target)
    this.#name = nameOf(target)
  }

  protected firstMessages(target: EditorTarget): Uint8Array[] {
    return [encodeMessage(nameOf(target), 2, 0, target.token ?? '')]
  }

  encode(kind: MessageKind, bytes: Uint8Array): Uint8Array {
    return encodeYjs(kind, bytes, this.#name)
  }

  protected receive(data: Buffer): void {
    const decoder = decoding.createDecoder(data)
    if (decoding.readVarString(decoder) !== this.#name) return
    const type = decoding.readVarUint(decoder)
    if (type === 0) readSync(decoder, (kind, bytes) => this.onMessage(kind, bytes))
    else if (type === 1) this.onMessage('awareness', decoding.readVarUint8Array(decoder))
    else if (type === 2) this.#onAuth(decoding.readVarUint(decoder), decoder)
    else if (type === 5) this.refusalTexts.push(JSON.parse(decoding.readVarString(decoder)).error.message)
    else if (type === 7) this.refusalTexts.push(`Close: ${decoding.readVarString(decoder)}`)
    else if (type === 8) this.settleFirst(decoding.readVarUint(decoder) === 1 ? 'saved' : 'refused')
  }

  #onAuth(type: number, decoder: decoding.Decoder): void {
    if (type === 1) {
      const reason = decoding.readVarString(decoder)
      this.refusalTexts.push(reason)
      this.onEnded({ reason })
    } else if (type === 2) {
      this.roles.push(decoding.readVarString(decoder) === 'readonly' ? 'viewer' : 'editor')
      this.onOpened()
    }
  }
}
