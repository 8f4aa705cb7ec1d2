// The program of a thread. It works on stored documents and parses large JSON of clients, which may take long.
import { answerThreadTasks } from './crdt/document-tasks.ts'
import { largeJsonTasks } from './realtime/messages/large-json.ts'

answerThreadTasks(largeJsonTasks)
