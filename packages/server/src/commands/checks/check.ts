/** What one check found. */
export interface Finding {
  check: string
  status: 'ok' | 'warning' | 'failed'
  message: string
  /** What the operator can do. */
  advice?: string
}

export const ok = (check: string, message: string): Finding => ({ check, status: 'ok', message })
export const warning = (check: string, message: string, advice: string): Finding => ({
  check,
  status: 'warning',
  message,
  advice,
})
export const failed = (check: string, message: string, advice: string): Finding => ({
  check,
  status: 'failed',
  message,
  advice,
})
