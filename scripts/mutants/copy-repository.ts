import { execFileSync } from 'node:child_process'
import {
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
} from 'node:fs'
import { dirname, join, resolve } from 'node:path'

/** Copies the working tree with its uncommitted changes, without ignored files. Both share the installed packages. */
export function copyRepository(from: string, to: string): void {
  const listed = ['ls-files', '-z', '--cached', '--others', '--exclude-standard']
  const files = execFileSync('git', listed, { cwd: from, encoding: 'utf8', maxBuffer: 2 ** 26 })
  for (const file of new Set(files.split('\0'))) {
    // A tracked file may have been deleted.
    if (file === '' || !existsSync(join(from, file))) continue
    mkdirSync(dirname(join(to, file)), { recursive: true })
    copyEntry(join(from, file), join(to, file))
  }
  const { workspaces } = JSON.parse(readFileSync(join(from, 'package.json'), 'utf8')) as {
    workspaces: readonly string[]
  }
  for (const folder of ['.', ...workspaces]) {
    linkPackages(resolve(from, folder, 'node_modules'), resolve(to, folder, 'node_modules'))
  }
}

/** These folders have relative links to the workspaces. In the copy they must lead to the copied workspaces. */
const foldersOfLinks = ['@plenum', '.bin']

/** Links the installed packages one by one, so that caches of tools in `node_modules` are not shared. */
function linkPackages(from: string, to: string): void {
  if (!existsSync(from)) return
  mkdirSync(to, { recursive: true })
  for (const name of readdirSync(from)) {
    const [source, target] = [join(from, name), join(to, name)]
    if (foldersOfLinks.includes(name)) {
      mkdirSync(target)
      for (const link of readdirSync(source)) copyEntry(join(source, link), join(target, link))
    } else if (!name.startsWith('.')) symlinkSync(source, target)
    else if (lstatSync(source).isFile()) copyFileSync(source, target)
  }
}

function copyEntry(from: string, to: string): void {
  if (lstatSync(from).isSymbolicLink()) symlinkSync(readlinkSync(from), to)
  else copyFileSync(from, to)
}
