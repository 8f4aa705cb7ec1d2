import type { Attack } from '../attack.ts'
import { nothing } from './nothing.ts'

/** The first shows what the machine does by itself. */
export const attacks: readonly Attack[] = [nothing]
