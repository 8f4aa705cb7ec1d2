import { setTimeout as pause } from 'node:timers/promises'
import type { Attack } from '../attack.ts'

export const nothing: Attack = {
  name: 'no attack, for comparison',
  async prepare({ size }) {
    return () => pause(size === 'short' ? 1_000 : 5_000)
  },
}
