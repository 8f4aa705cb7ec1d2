export * from './client-messages.ts'
export * from './declarations.ts'
export * from './editor-frames.ts'
export {
  LiveStateAuthor,
  LiveStateValue,
  OnlineStatus,
  Position,
  PresenceEntry,
  ThreadChanges,
  Topic,
} from './fields.ts'
export * from './server-messages.ts'
