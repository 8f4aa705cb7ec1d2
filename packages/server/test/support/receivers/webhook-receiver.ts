import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'

export interface ReceivedWebhook {
  path: string
  headers: IncomingHttpHeaders
  body: string
  // eslint-disable-next-line typescript/no-explicit-any
  json: any
}

/** A receiver of webhooks at 127.0.0.1. It accepts everything, unless a test tells it otherwise. */
export class WebhookReceiver {
  url = ''
  readonly received: ReceivedWebhook[] = []
  /** Answers a webhook. */
  respond: (response: ServerResponse, webhook: ReceivedWebhook) => unknown = (response) =>
    void response.end('thanks')
  readonly #server = createServer((incoming, response) => {
    void text(incoming).then((body) => {
      const webhook = { path: incoming.url ?? '', headers: incoming.headers, body, json: JSON.parse(body) }
      this.received.push(webhook)
      this.respond(response, webhook)
    })
  })

  static async start(): Promise<WebhookReceiver> {
    const receiver = new WebhookReceiver()
    receiver.#server.listen(0, '127.0.0.1')
    await once(receiver.#server, 'listening')
    receiver.url = `http://127.0.0.1:${(receiver.#server.address() as AddressInfo).port}`
    onTestFinished(() => receiver.stop())
    return receiver
  }

  /** From now on every webhook gets this status. */
  answerWith(status: number, body = ''): void {
    this.respond = (response) => void response.writeHead(status).end(body)
  }

  /** The events at this path, in the order of arrival. */
  eventsAt(path: string): string[] {
    return this.received.filter((one) => one.path === path).map(({ json }) => json.event)
  }

  /** From now on connections are refused. */
  stop(): void {
    this.#server.close()
    this.#server.closeAllConnections()
  }
}
