import { type ChildProcess, spawn } from 'node:child_process'

/**
 * Ends the watched processes and removes the folder when this process ends in any way: also by SIGKILL, and by the
 * SIGTERM with which vitest ends its workers, for which Node emits no `exit`.
 */
export function startGuard(dataDir: string, temporary: boolean) {
  // The last line is the process to end, if any; standard input closes when this process ends. SIGQUIT is PostgreSQL's
  // immediate shutdown, which takes its children along and removes postmaster.pid last.
  const script = `
    pid=
    while read -r line; do pid=$line; done
    if [ -n "$pid" ]; then
      kill -QUIT "$pid"
      tries=0
      while [ -e postmaster.pid ] && kill -0 "$pid" && [ $tries -lt 100 ]; do
        sleep 0.05
        tries=$((tries + 1))
      done
      kill -KILL "$pid"
    fi
    [ -z "$1" ] || rm -rf "$1" || { sleep 1; rm -rf "$1"; }`
  const args = ['-c', script, 'guard', temporary ? dataDir : '']
  const guard = spawn('sh', args, { stdio: ['pipe', 'ignore', 'ignore'], cwd: dataDir, detached: true })
  const input = guard.stdin
  input.on('error', () => {})
  guard.unref()
  // A worker of vitest outlives a run that is interrupted, until its test ends.
  const close = () => void input.end()
  if (process.connected) process.once('disconnect', close)
  return {
    watch(child: ChildProcess): void {
      if (child.pid !== undefined) input.write(`${child.pid}\n`)
      child.once('exit', () => {
        if (!input.writableEnded) input.write('\n')
      })
    },
    /** Does not wait for the end of the folder: on a busy machine, the files of 200 databases take minutes. */
    release(): void {
      process.off('disconnect', close)
      close()
    },
  }
}
