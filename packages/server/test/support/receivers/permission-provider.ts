import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'
import type { Tenant } from '../given.ts'

export interface ProviderRequest {
  userId: string
  resource: {
    id: string
    type: string
    source: string
    organizationId: string
    parentFolderId?: string
  }
}

/** The fields of an entry that are not taken from the request. */
export interface Permission {
  hasAccess: boolean
  accessRole?: 'viewer' | 'editor'
  expiresAt?: number
}

interface Call {
  headers: IncomingHttpHeaders
  requests: ProviderRequest[]
}

/** A permission provider at 127.0.0.1. It allows everything, unless a test tells it otherwise. */
export class TestProvider {
  url = ''
  /** What the server has asked. */
  readonly calls: Call[] = []
  /** The permission that a request gets. Undefined: its entry is missing. */
  decide: (request: ProviderRequest) => Permission | undefined = () => ({ hasAccess: true })
  /** Answers a call. Default: as the specification says. */
  respond: (response: ServerResponse, call: Call) => unknown = (response, { requests }) =>
    void response.end(JSON.stringify(this.answerTo(requests)))
  readonly #server = createServer((incoming, response) => {
    void json(incoming).then((body) => {
      const { requests } = (body as { data: { requests: ProviderRequest[] } }).data
      const call = { headers: incoming.headers, requests }
      this.calls.push(call)
      this.respond(response, call)
    })
  })

  static async start(): Promise<TestProvider> {
    const provider = new TestProvider()
    provider.#server.listen(0, '127.0.0.1')
    await once(provider.#server, 'listening')
    provider.url = `http://127.0.0.1:${(provider.#server.address() as AddressInfo).port}/permissions`
    onTestFinished(() => provider.stop())
    return provider
  }

  /** From now on connections are refused. */
  stop(): void {
    this.#server.close()
    this.#server.closeAllConnections()
  }

  entriesFor(requests: readonly ProviderRequest[]) {
    return requests.flatMap((request) => {
      const permission = this.decide(request)
      const { id: resourceId, type, organizationId } = request.resource
      return permission ? [{ userId: request.userId, resourceId, type, organizationId, ...permission }] : []
    })
  }

  answerTo(requests: readonly ProviderRequest[]) {
    return { data: this.entriesFor(requests), success: true, statusCode: 200, message: 'Fine.' }
  }

  /** Everything that was asked, in the order of the calls. */
  get asked(): ProviderRequest[] {
    return this.calls.flatMap(({ requests }) => requests)
  }
}

/** Starts a provider and makes the tenant use it. */
export async function useProvider({ client }: Tenant): Promise<TestProvider> {
  const provider = await TestProvider.start()
  await client.permissionProviderConfig.update({
    usePermissionProvider: true,
    permissionProviderConfig: { permissionProviderUrl: provider.url, authToken: 'token-of-the-provider' },
  })
  return provider
}

/** The setting with which a server may call the provider of a test. */
export const allowLoopback = { OUTGOING_PRIVATE_ADDRESSES: 'allowed' }
