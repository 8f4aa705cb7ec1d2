// Runs before each test file: property tests use the seed of the other random tests.
import * as fc from 'fast-check'
import { testSeed } from './random/random.ts'

fc.configureGlobal({ seed: testSeed })
