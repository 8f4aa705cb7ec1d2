import type { OrganizationSubject } from '../permissions.ts'
import type { ProviderAnswers } from './permission-provider.ts'
import type { Question } from './question.ts'

/** Adds the provider's answer to the facts of a decision, unless the API key uses no provider. */
export const withProvider = <S extends OrganizationSubject>(
  subject: S,
  answers: ProviderAnswers | undefined,
  question: Question,
): S => (answers ? { ...subject, provider: { answer: answers.find(question)?.answer } } : subject)
