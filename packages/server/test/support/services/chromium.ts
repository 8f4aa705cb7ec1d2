import { type Browser, chromium } from 'playwright-core'
import { chromiumProgram, findOrInstall } from './programs.ts'

/** Starts a Chromium. With `anyHost`, every host name is this machine. */
export const startChromium = ({ anyHost = false } = {}): Promise<Browser> =>
  chromium.launch({
    executablePath: findOrInstall(chromiumProgram),
    args: ['--no-sandbox', ...(anyHost ? ['--host-resolver-rules=MAP * 127.0.0.1'] : [])],
  })
