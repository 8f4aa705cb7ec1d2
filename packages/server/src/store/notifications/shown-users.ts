import { hash } from 'node:crypto'

/**
 * Stands for a user whose name or text a notification shows, so that an erasure finds the notification (spec 14.2.2). Ids may
 * be long: a hundred of them would not fit into a notification.
 */
export const shownUser = (userId: string): string => hash('sha256', userId, 'hex').slice(0, 16)
