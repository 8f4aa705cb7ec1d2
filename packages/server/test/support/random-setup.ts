// Runs before each test file: property tests use the seed of the other random tests, and a failed test prints it.
import * as fc from 'fast-check'
import { afterEach } from 'vitest'
import { testSeed } from './random.ts'

fc.configureGlobal({ seed: testSeed })

afterEach(({ task }) => {
  // oxlint-disable-next-line no-console -- whoever repeats the failed test needs the seed
  if (task.result?.state === 'fail') console.log(`Failed with TEST_SEED=${testSeed}: ${task.name}`)
})
