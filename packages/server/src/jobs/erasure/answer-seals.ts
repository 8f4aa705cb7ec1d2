import { sealContexts } from '../../access/credentials/seal-contexts.ts'
import type { Secrets } from '../../access/credentials/secrets.ts'
import type { AnswerSeals } from '../../store/erasures/erased-answers.ts'

export const answerSeals = ({ seal, unseal }: Pick<Secrets, 'seal' | 'unseal'>): AnswerSeals => ({
  open({ scope, operation, key }, sealed) {
    try {
      return unseal(sealed, sealContexts.storedAnswer(scope, operation, key))
    } catch {
      return undefined
    }
  },
  seal: ({ scope, operation, key }, answer) => seal(answer, sealContexts.storedAnswer(scope, operation, key)),
})
