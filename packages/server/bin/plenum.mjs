#!/usr/bin/env node
import { existsSync } from 'node:fs'

// In a clone, npm links this file before the program is built.
const main = new URL('../dist/main.js', import.meta.url)
if (existsSync(main)) await import(main.href)
else {
  console.error('plenum is not built yet. Run: npm run build')
  process.exitCode = 1
}
