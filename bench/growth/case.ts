import type { createClient } from '../../packages/client/src/index.ts'
import type { Tenant } from '../../packages/server/test/support/given.ts'
import { Client } from '../fan-out/client.ts'
import { yWebsocket } from '../fan-out/dialects.ts'
import { type LoadResult, sendRequests } from '../load.ts'
import type { Rows } from './rows.ts'

/** Something of which a tenant can have very many. */
export interface Kind {
  name: string
  /** The largest number that the product permits, or that leaves room for what the cases add. Default: no limit. */
  maxCount?: number
  /** Creates the first ones through REST, which are copied later. */
  prepare(tenant: Tenant): Promise<PreparedKind>
}

export interface PreparedKind {
  /** Copies rows until there are `count`. */
  fill(rows: Rows, count: number): Promise<void>
  /** What to measure, on a server that was started after `fill`. */
  cases(server: TenantServer, count: number): Case[]
}

/** A started server, as one tenant uses it. */
export interface TenantServer {
  port: number
  headers: Record<string, string>
  client: ReturnType<typeof createClient>
}

export interface Case {
  title: string
  /** Requests per round, if fewer than `--requests`. */
  maxRequests?: number
  /** Creates what the following requests need. It is not measured. */
  before?(requestCount: number): Promise<void>
  run(requestCount: number): Promise<LoadResult>
}

interface RestCase extends Pick<Case, 'title' | 'maxRequests'> {
  path: string
  /** The `data` of request number n. */
  data(n: number): object
  /** The answer must have at least this many items; otherwise the case would not measure what it says. */
  minItems?: number
  /** Called with the numbers of the requests that follow. */
  before?(numbers: number[]): Promise<unknown>
}

export function restCase({ port, headers }: TenantServer, options: RestCase): Case {
  const { title, path, data, minItems, before, maxRequests } = options
  let sent = 0
  let isChecked = minItems === undefined
  const check = async (body: string) => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body,
    })
    const answer = (await response.json()) as { result?: { data?: unknown[] } }
    const found = answer.result?.data?.length ?? 0
    if (found < (minItems ?? 0)) {
      throw new Error(`${title}: expected ${minItems} items, but the answer is ${JSON.stringify(answer)}.`)
    }
  }
  return {
    title,
    ...(maxRequests !== undefined && { maxRequests }),
    async before(requestCount) {
      await before?.(Array.from({ length: requestCount }, (_, index) => sent + index))
    },
    async run(requestCount) {
      const first = sent
      sent += requestCount
      const body = (n: number) => JSON.stringify({ data: data(first + n) })
      if (!isChecked) await check(body(0))
      isChecked = true
      return sendRequests({ port, path, headers, body, connectionCount: 1, requestCount })
    },
  }
}

/** Opens editors with the protocol of y-websocket, one after the other, until their content has arrived. */
export function openCase(
  { port, client }: TenantServer,
  { title, room, maxRequests }: { title: string; room: (n: number) => string; maxRequests: number },
): Case {
  let opened = 0
  let token: string | undefined
  return {
    title,
    maxRequests,
    async before() {
      token ??= (
        await client.auth.generateToken({
          userId: 'reader',
          userProperties: { name: 'Reader', email: 'reader@example.com' },
          permissions: { resources: [{ type: 'organization', id: 'org', accessRole: 'editor' }] },
        })
      ).data.token
    },
    async run(requestCount) {
      const latencies: number[] = []
      for (let request = 0; request < requestCount; request++) {
        const startedAt = performance.now()
        const reader = await Client.open({
          server: `ws://127.0.0.1:${port}`,
          token: token ?? '',
          room: room(opened++),
          dialect: yWebsocket,
          answersSync: true,
        })
        latencies.push(performance.now() - startedAt)
        await reader.close()
      }
      return { latencies, failures: [] }
    },
  }
}
