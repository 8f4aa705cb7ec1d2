import { cpuMicrosecondsOf } from '../process.ts'
import { setTimeout as wait } from 'node:timers/promises'
import { Client } from './client.ts'
import type { Contender, RunningServer } from './contenders.ts'
import { type Dialect, hocuspocus } from './dialects.ts'
import { textOf } from './typing.ts'

export interface OpeningCost {
  milliseconds: number
  cpuMilliseconds: number
  kilobytes: number
}

/** `warm`: another client has the document open. `cold`: this client is the first to open it after a server start. */
export interface OpeningCosts {
  dialect: Dialect
  warm: OpeningCost[]
  cold: OpeningCost[]
}

/** Limits the updates without an acknowledgement while a document is written. */
const maxUnsaved = 500
const quietMilliseconds = 300

/**
 * Writes the updates into `copyCount` documents for each dialect. Then opens each document `warmCount` times warm, and once
 * cold if the server keeps documents on disk.
 */
export async function timeOpenings(
  contender: Contender,
  updates: Uint8Array[],
  copyCount: number,
  warmCount: number,
): Promise<OpeningCosts[]> {
  const running = await contender.start()
  const rooms = Array.from({ length: copyCount }, (_, copy) =>
    contender.dialects.map((dialect) => ({ dialect, name: `${dialect.name}-${copy}` })),
  ).flat()
  const expected = textOf(updates)
  const costs = contender.dialects.map((dialect): OpeningCosts => ({ dialect, warm: [], cold: [] }))
  const open = async (name: string, dialect: Dialect) => {
    const { cost, text } = await timedOpen(running, name, dialect)
    if (text !== expected)
      throw new Error(`${name} is incomplete: ${text.length} of ${expected.length} characters arrived.`)
    return cost
  }

  for (const { name, dialect } of rooms) {
    const writer = await write(running, name, updates)
    const own = costs.find((one) => one.dialect === dialect)
    for (let time = 0; time < warmCount; time++) own?.warm.push(await open(name, dialect))
    await writer.close()
  }
  if (contender.keeps === 'disk') {
    await running.restart()
    for (const dialect of contender.dialects) {
      for (let n = 0; n < 20; n++) await timedOpen(running, `warm-up-${n}`, dialect)
    }
    for (const { name, dialect } of rooms) {
      costs.find((one) => one.dialect === dialect)?.cold.push(await open(name, dialect))
    }
  }
  await running.stop()
  return costs
}

async function write(running: RunningServer, name: string, updates: Uint8Array[]): Promise<Client> {
  const target = running.target(name, hocuspocus)
  const client = await Client.open(target)
  await waitUntilSaved(client, 1) // The acknowledgement of the state that the client sent when it opened the document.
  const before = client.savedCount
  for (const [n, update] of updates.entries()) {
    client.send(hocuspocus.update(target.room, update))
    if (n % 100 === 0) await waitUntilSaved(client, before + n - maxUnsaved)
  }
  await waitUntilSaved(client, before + updates.length)
  return client
}

async function waitUntilSaved(client: Client, count: number): Promise<void> {
  while (client.savedCount < count) await wait(1)
}

async function timedOpen(running: RunningServer, name: string, dialect: Dialect) {
  const cpuBefore = cpuMicrosecondsOf(running.measured.pid)
  const began = performance.now()
  const client = await Client.open(running.target(name, dialect, 1))
  // A server may send the state in several frames.
  while (performance.now() - client.lastReceivedAt < quietMilliseconds) await wait(10)
  const milliseconds = client.lastReceivedAt - began
  const cpuMilliseconds = (cpuMicrosecondsOf(running.measured.pid) - cpuBefore) / 1000
  const bytes = client.received.reduce((sum, { byteLength }) => sum + byteLength, 0)
  const text = textOf(client.received)
  await client.close()
  return { cost: { milliseconds, cpuMilliseconds, kilobytes: bytes / 1024 }, text }
}
