import * as decoding from 'lib0/decoding'
import type { TestServer } from '../harness.ts'
import { encodeMessage } from './encode-message.ts'
import type { EditorTarget } from './raw-client.ts'
import { RawYjs } from './raw-yjs.ts'
import { nameOf } from './yjs-messages.ts'

const syncStatus = 102

/** A client of the Y-Sweet dialect. */
export class RawYSweet extends RawYjs {
  #sentVersions = 0
  #acknowledgedVersions = 0

  constructor(server: Pick<TestServer, 'url'>, target: EditorTarget) {
    super(server, target, `/y-sweet/d/${nameOf(target)}/ws/${nameOf(target)}`)
  }

  /** Sends one version per write; an answer also acknowledges all earlier versions. */
  protected override requestReceipt(): void {
    this.send(encodeMessage(syncStatus, encodeMessage(++this.#sentVersions)))
  }

  protected override receive(data: Buffer): void {
    const decoder = decoding.createDecoder(data)
    if (decoding.readVarUint(decoder) !== syncStatus) return super.receive(data)
    const version = decoding.readVarUint(decoding.createDecoder(decoding.readVarUint8Array(decoder)))
    for (; this.#acknowledgedVersions < version; this.#acknowledgedVersions++) this.onReceipt()
  }
}
