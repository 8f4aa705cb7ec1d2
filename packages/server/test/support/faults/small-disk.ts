import { execFileSync, spawnSync } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Mounts a small disk. Returns the reason if that is not possible. */
export function mountSmallDisk(size = '8m'): { folder: string; unmount(): void } | string {
  const folder = mkdtempSync(join(tmpdir(), 'plenum-disk-'))
  const { status, stderr, error } = spawnSync(
    'mount',
    ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', folder],
    {
      encoding: 'utf8',
    },
  )
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

/** Writes a file until no byte fits any more. */
export function fillUp(file: string): void {
  const opened = openSync(file, 'a')
  try {
    for (const size of [1024 * 1024, 4096, 1]) {
      try {
        while (writeSync(opened, Buffer.alloc(size)) === size);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
      }
    }
  } finally {
    closeSync(opened)
  }
}
