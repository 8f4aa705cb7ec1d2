import { metricsOnManyConnections, pipelinedRequests } from '../../../../attack/attacks/pipelined-requests.ts'
import { describeAttacks } from './attacked-server.ts'

// All attacks, on both databases, are in attacks.long.test.ts. What most of them ask of a server is counted by other tests.
describeAttacks('sqlite', [pipelinedRequests, metricsOnManyConnections])
