// Runs before each test file: property tests use the seed of the other random tests.
import * as fc from 'fast-check'
import { testSeed } from './random/random.ts'

// Each provider of y-websocket listens to the exit of its process.
process.setMaxListeners(0)

fc.configureGlobal({ seed: testSeed })
