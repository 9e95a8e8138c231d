import type { McpHttpHandler, McpRequestContext, Server } from '@modelcontextprotocol/server';
import type { AskCall } from './ask-call.ts';
import { type AskTool, shownTool } from './ask-tools.ts';

/** What the tools of one request work with. */
export interface McpRequest {
  readonly call: AskCall;
  /** Throws a refusal if the agency cannot be used. */
  readonly tools: () => readonly AskTool[];
}

const KEEP_ALIVE_MS = 10_000;

/** The protocol as its official package speaks it, in each revision that the package knows. It is loaded by the first request. */
export class McpSdk {
  #handler: Promise<McpHttpHandler> | null = null;

  async answer(request: Request, body: unknown, about: McpRequest): Promise<Response> {
    this.#handler ??= load();
    const handler = await this.#handler;
    // The package hands `authInfo` through to the server of the request.
    const authInfo = { token: '', clientId: '', scopes: [], extra: { about } };
    return handler.fetch(request, { parsedBody: body, authInfo });
  }
}

async function load(): Promise<McpHttpHandler> {
  const sdk = await import('@modelcontextprotocol/server');
  const factory = ({ authInfo }: McpRequestContext) => {
    const about = authInfo?.extra?.about as McpRequest;
    return createServer(sdk, about);
  };
  // There are no subscriptions: tools change only if the agency does, and a stream would be held open for them.
  return sdk.createMcpHandler(factory, { responseMode: 'sse', keepAliveMs: KEEP_ALIVE_MS, maxSubscriptions: 0 });
}

function createServer(sdk: typeof import('@modelcontextprotocol/server'), { call, tools }: McpRequest): Server {
  const server = new sdk.Server({ name: 'runwire', version: '1' }, { capabilities: { tools: {} } });
  const findTools = () => {
    try {
      return tools();
    } catch (error) {
      call.fault = error;
      throw error;
    }
  };
  server.setRequestHandler('tools/list', async () => ({ tools: findTools().map(shownTool) }) as never);
  server.setRequestHandler('tools/call', async ({ params }, { mcpReq }) => {
    const tool = findTools().find(({ name }) => name === params.name);
    if (tool === undefined) {
      const sentence = `There is no tool \`${params.name}\`; list the tools again.`;
      throw new sdk.ProtocolError(sdk.ProtocolErrorCode.InvalidParams, sentence);
    }
    const { progressToken } = mcpReq._meta ?? {};
    const onNews =
      progressToken === undefined
        ? null
        : ({ events: progress, text: message }: { readonly events: number; readonly text: string }) => {
            const notified = mcpReq.notify({
              method: 'notifications/progress',
              params: { progressToken, progress, message },
            });
            // The client left.
            notified.catch(() => {});
          };
    return call.ask(tool, { id: mcpReq.id, arguments: params.arguments, meta: mcpReq._meta, onNews });
  });
  return server;
}
