import { join } from 'node:path'
import { build, defaultClientConditions } from 'vite'

/** Bundles the page; gives the folder. */
export async function buildPage(): Promise<string> {
  const root = join(import.meta.dirname, 'page')
  const outDir = join(import.meta.dirname, 'dist')
  await build({
    root,
    configFile: false,
    logLevel: 'warn',
    // The client is used from its sources; in your application it comes from node_modules.
    resolve: { conditions: ['plenum-source', ...defaultClientConditions], dedupe: ['yjs'] },
    build: { outDir, emptyOutDir: true, chunkSizeWarningLimit: 2000 },
  })
  return outDir
}
