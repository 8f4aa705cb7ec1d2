import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Mounts a small disk. Returns the reason if that is not possible. */
export function mountSmallDisk(): { folder: string; unmount(): void } | string {
  const folder = mkdtempSync(join(tmpdir(), 'plenum-disk-'))
  const { status, stderr, error } = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=8m', 'tmpfs', folder], {
    encoding: 'utf8',
  })
  if (status !== 0) {
    rmSync(folder, { recursive: true })
    return `a small disk cannot be mounted here: ${stderr?.trim() || error?.message}`
  }
  return {
    folder,
    unmount() {
      // Unmounts lazily, because the addon closes its files only when its statements are garbage collected.
      execFileSync('umount', ['-l', folder])
      rmSync(folder, { recursive: true })
    },
  }
}
