import { setTimeout as pause } from 'node:timers/promises'
import { type Fault, severalServers } from '../fault.ts'
import { underLoad } from '../under-load.ts'

export const slowReader: Fault = {
  id: 'F12',
  title: 'a client does not read for 3 s',
  links: severalServers,
  trials: 6,
  seconds: 10,
  job: { paddingLength: 2_000 },
  run: (scene) =>
    underLoad(scene, {
      begin: async ({ sockets }) => sockets[0]?.pause(),
      async end({ sockets }) {
        await pause(3_000)
        for (const socket of sockets) socket.resume()
      },
    }),
  control: {
    name: 'a client that never reads again',
    shows: 'problems',
    run: (scene) => underLoad(scene, { begin: async ({ sockets }) => sockets[0]?.pause() }),
  },
}
