export const crdt = {}
