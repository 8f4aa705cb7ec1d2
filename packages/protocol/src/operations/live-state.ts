export const liveState = {}
