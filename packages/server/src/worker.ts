// The program of a thread: work on stored documents, and on JSON of clients, that may take long.
import { answerThreadTasks } from './crdt/document-tasks.ts'
import { largeJsonTasks } from './realtime/messages/large-json.ts'

answerThreadTasks(largeJsonTasks)
