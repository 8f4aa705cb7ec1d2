import { type Browser, type BrowserServer, chromium } from 'playwright-core'
import { chromiumProgram, findOrInstall } from './programs.ts'
import { askFor, type SharedService } from './shared-services.ts'

/** One Chromium for the tests of a run. Every host name is this machine. */
export function sharedChromium(): SharedService {
  let server: BrowserServer | undefined
  return {
    async start() {
      server = await chromium.launchServer({
        executablePath: findOrInstall(chromiumProgram),
        host: '127.0.0.1',
        args: [
          '--no-sandbox',
          '--disable-gpu',
          '--disable-software-rasterizer',
          '--host-resolver-rules=MAP * 127.0.0.1',
        ],
      })
      return server.wsEndpoint()
    },
    stop: async () => server?.close(),
  }
}

/** Connects to the Chromium of the run. `close` closes the pages that were opened with it. */
export async function openBrowser(): Promise<Browser> {
  // Installing it takes long: the process of this test waits, and not the one that all workers report to.
  findOrInstall(chromiumProgram)
  return chromium.connect((await askFor('chromium')) as string)
}
