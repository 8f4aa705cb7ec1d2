import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { closeCodes } from '@plenum/protocol/realtime'
import * as given from '../../support/given.ts'
import { anyStore, useServer } from '../../support/harness.ts'
import { RawSocket } from '../../support/clients/raw-socket.ts'
import { eventually } from '../../support/clients/convergence.ts'

const guide = readFileSync(join(import.meta.dirname, '../../../../../docs/guides/realtime.md'), 'utf8')
const [, session = ''] = /```\n(→[\s\S]*?)```/.exec(guide) ?? []

/** Replaces the values that differ from run to run. */
const normal = (text: string) =>
  text
    .replace(/"(connectionId|epoch)":"\w+"/g, '"$1":"…"')
    .replace(/"(expiresAt|timestamp|lastUpdated)":\d+/g, '"$1":0')

/** Reads the hexadecimal numbers at the start of a line. */
const bytesIn = (line: string) => {
  const [, hex] = /^((?:[0-9a-f]{2}(?: |$))+)/.exec(line) ?? []
  return hex === undefined ? undefined : Buffer.from(hex.replaceAll(' ', ''), 'hex')
}

describe('the guide to /realtime', () => {
  const server = useServer(anyStore)

  test('[R10] the example session in the guide matches a real session', async () => {
    const tenant = await given.tenant(server)
    const { data } = await tenant.client.auth.generateToken({
      userId: 'ada',
      userProperties: { name: 'Ada', email: 'ada@example.com' },
      permissions: { resources: [{ type: 'organization', id: 'acme' }] },
    })
    let epoch = ''
    const received: string[] = []
    const connect = async () => {
      const raw = new RawSocket(server, '/realtime')
      raw.socket.on('message', (data: Buffer, isBinary) => {
        const text = isBinary ? data.toString('hex').replace(/..\B/g, '$& ') : data.toString()
        epoch = /"epoch":"(\w+)"/.exec(text)?.[1] ?? epoch
        received.push(text)
      })
      void raw.closed.then(({ code, reason }) => received.push(`closed: ${code} ${reason}`))
      await raw.connected()
      return raw
    }

    let socket = await connect()
    for (const line of session.split('\n').filter((line) => line !== '')) {
      const [direction, text] = [line[0], line.slice(2)]
      if (direction === '→') {
        const message = text
          .replace(/"token":"[^"]+"/, `"token":"${data.token}"`)
          .replace(/"epoch":"\w+"/, `"epoch":"${epoch}"`)
        socket.send(bytesIn(text) ?? message)
      } else if (direction === '←') {
        await eventually(() => received.length).toBeGreaterThan(0)
        const expected = bytesIn(text)?.toString('hex').replace(/..\B/g, '$& ') ?? text
        expect(normal(received.shift() as string)).toBe(normal(expected))
      } else if (text.includes('Broadcast')) {
        const documentRef = { organizationId: 'acme', documentId: 'plan' }
        await tenant.client.liveState.broadcast({
          ...documentRef,
          liveStateDataId: 'player',
          data: { at: 42 },
          merge: true,
        })
      } else {
        socket.terminate()
        await eventually(() => received.splice(0)).toEqual(['closed: 1006 '])
        socket = await connect()
      }
    }
    expect(received).toEqual([])
  })

  test('[R10] the guide names every close code', () => {
    for (const [name, code] of Object.entries(closeCodes)) expect(guide).toContain(`| ${code} | ${name} |`)
  })
})
