import { join } from 'node:path'
import { build, defaultClientConditions } from 'vite'

/** Bundles the page and returns the output folder. */
export async function buildPage(): Promise<string> {
  const root = join(import.meta.dirname, 'page')
  const outDir = join(import.meta.dirname, 'dist')
  await build({
    root,
    configFile: false,
    logLevel: 'warn',
    // The example uses the sources of the client. Your application imports the client from node_modules.
    resolve: { conditions: ['plenum-source', ...defaultClientConditions], dedupe: ['yjs'] },
    build: { outDir, emptyOutDir: true, chunkSizeWarningLimit: 2000 },
  })
  return outDir
}
