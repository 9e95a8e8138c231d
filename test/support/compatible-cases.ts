/* How a run is started through each compatible API, for tests that are about all of them. */

export interface StartedBy {
  readonly message: string;
  /** The part of the `usageRequestId` that the caller chooses. */
  readonly requestId: string;
  readonly consumerId: string;
  /** A stored chat, or a new one with this id. Null for a chat of its own. */
  readonly chatId: string | null;
}

export interface CompatibleCase {
  readonly name: string;
  /** Below the integration. */
  readonly path: string;
  readonly body: (given: StartedBy) => object;
  readonly headers: (given: StartedBy) => Readonly<Record<string, string>>;
  readonly usageRequestId: (given: StartedBy) => string;
  /** False if each request of this API is a run in a chat of its own. */
  readonly namesChat: boolean;
  // biome-ignore lint/suspicious/noExplicitAny: each API has its own shape of errors.
  readonly getCode: (body: any) => string;
}

const consumer = ({ consumerId }: StartedBy) => ({ 'X-Runwire-Consumer-Id': consumerId });
const consumerAndKey = (given: StartedBy) => ({ ...consumer(given), 'Idempotency-Key': given.requestId });
const byHeader = { headers: consumerAndKey, usageRequestId: ({ requestId }: StartedBy) => requestId };
const ownErrors = { getCode: ({ code }: { code: string }) => code };
const openaiErrors = { getCode: ({ error }: { error: { code: string } }) => error.code };

/** One entry for each API and form of answer. */
export const COMPATIBLE_CASES: readonly CompatibleCase[] = [
  ...[true, false].map((stream): CompatibleCase => {
    const messages = (message: string) => [{ role: 'user', content: message }];
    return {
      name: `Chat Completions, ${stream ? 'streamed' : 'plain'}`,
      path: '/openai/v1/chat/completions',
      body: ({ message }) => ({ messages: messages(message), stream }),
      ...byHeader,
      headers: (given) => ({
        ...consumerAndKey(given),
        ...(given.chatId === null ? {} : { 'X-Runwire-Chat-Id': given.chatId }),
      }),
      namesChat: true,
      ...openaiErrors,
    };
  }),
  ...[true, false].map(
    (stream): CompatibleCase => ({
      name: `Responses, ${stream ? 'streamed' : 'plain'}`,
      path: '/openai/v1/responses',
      body: ({ message, chatId }) => ({ input: message, stream, ...(chatId === null ? {} : { conversation: chatId }) }),
      ...byHeader,
      namesChat: true,
      ...openaiErrors,
    }),
  ),
  {
    name: 'AI SDK',
    path: '/ai-sdk/chat?whenBusy=refuse',
    body: ({ message, chatId, requestId }) => ({
      id: chatId ?? `chat-${requestId}`,
      trigger: 'submit-message',
      messages: [{ id: requestId, role: 'user', parts: [{ type: 'text', text: message }] }],
    }),
    headers: consumer,
    usageRequestId: ({ chatId, requestId }) => `ui:${chatId ?? `chat-${requestId}`}:${requestId}`,
    namesChat: true,
    ...ownErrors,
  },
  {
    name: 'AG-UI',
    path: '/ag-ui?whenBusy=refuse',
    body: ({ message, chatId, requestId }) => ({
      threadId: chatId ?? `chat-${requestId}`,
      runId: requestId,
      messages: [{ id: requestId, role: 'user', content: message }],
      tools: [],
      context: [],
      state: {},
      forwardedProps: {},
    }),
    headers: consumer,
    usageRequestId: ({ requestId }) => requestId,
    namesChat: true,
    ...ownErrors,
  },
  {
    name: 'MCP',
    path: '/mcp',
    body: ({ message, chatId, requestId }) => ({
      jsonrpc: '2.0',
      id: requestId,
      method: 'tools/call',
      params: {
        name: 'ask_Concierge',
        arguments: { message, ...(chatId === null ? {} : { chat_id: chatId }) },
        _meta: { 'runwire/idempotencyKey': requestId },
      },
    }),
    headers: (given) => ({
      ...consumer(given),
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2025-11-25',
    }),
    usageRequestId: ({ requestId }) => requestId,
    namesChat: true,
    ...ownErrors,
  },
  ...['get_response_stream', 'get_response'].map(
    (operation): CompatibleCase => ({
      name: `agency-swarm, ${operation}`,
      path: `/agency-swarm/${operation}`,
      body: ({ message }) => ({ message }),
      ...byHeader,
      namesChat: false,
      ...ownErrors,
    }),
  ),
];
