export { ApiError, type ErrorStatus } from '@plenum/protocol/errors'
export { type CallOptions, type Client, type ClientOptions, createClient, type Result } from './client.ts'
