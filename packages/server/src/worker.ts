// The program of a worker thread. It does the work that may take long: on stored documents, and on large JSON from clients.
import { answerThreadTasks } from './crdt/document-tasks.ts'
import { largeJsonTasks } from './realtime/messages/large-json-tasks.ts'

answerThreadTasks(largeJsonTasks)
