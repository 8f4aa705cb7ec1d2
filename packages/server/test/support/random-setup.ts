// Runs before each test file: property tests use the seed of the other random tests, and a failed test prints it.
import * as fc from 'fast-check'
import { afterEach } from 'vitest'
import { testSeed } from './random.ts'

fc.configureGlobal({ seed: testSeed })

afterEach(({ task }) => {
  if (task.result?.state !== 'fail') return
  // oxlint-disable-next-line no-console -- with the seed a failed run can be repeated
  console.log(`Failed with TEST_SEED=${testSeed}: ${task.name}`)
})
