import type { Operations } from '@plenum/protocol'
import type { Handlers } from '../handler.ts'

export const liveStateHandlers: Handlers<Operations['liveState']> = {}
