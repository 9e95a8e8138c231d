import { Agent } from 'undici';
import type { Model, ModelOutput, ModelRequest, ModelResult, PromptItem } from '../packages/server/src/agent/ports.ts';

interface ProviderEvent {
  readonly type: string;
  readonly delta: string;
  readonly item: { readonly call_id: string; readonly name: string; readonly arguments: string };
}

function inputItem(item: PromptItem): object {
  switch (item.kind) {
    case 'tool_call':
      return { type: 'function_call', call_id: item.callId, name: item.name, arguments: item.arguments };
    case 'tool_output':
      return { type: 'function_call_output', call_id: item.callId, output: item.output };
    default:
      return { role: item.kind, content: item.text };
  }
}

/**
 * The decoding floor of `--provider`: it uses the handlers of undici, splits at empty lines, calls `JSON.parse` and
 * passes on the delta. It has no limits of time or size, only LF as line end, no retries, and only errors of the
 * connection.
 */
export function bareProvider(port: number): Model {
  const agent = new Agent({ headersTimeout: 0, bodyTimeout: 0 });
  const headers = { 'content-type': 'application/json' };
  return {
    id: 'bench/bare',
    call: (request: ModelRequest, output: ModelOutput) =>
      new Promise<ModelResult>((resolve, reject) => {
        const input = request.prompt.map(inputItem);
        let rest = '';
        const body = JSON.stringify({ model: 'bench', input, stream: true });
        agent.dispatch(
          { origin: `http://127.0.0.1:${port}`, path: '/v1/responses', method: 'POST', headers, body },
          {
            onRequestStart() {},
            onResponseStart() {},
            onResponseData(_, chunk) {
              const events = (rest + chunk.toString()).split('\n\n');
              rest = events.pop() ?? '';
              for (const text of events) {
                const event = JSON.parse(text.slice(text.indexOf('data: ') + 6)) as ProviderEvent;
                if (event.type === 'response.output_text.delta') output.text(event.delta);
                if (event.type !== 'response.output_item.done') continue;
                const { call_id: callId, name, arguments: given } = event.item;
                output.toolCall(callId, name, given);
              }
            },
            onResponseEnd: () => resolve({ usage: null }),
            onResponseError: (_, error) => reject(error),
          },
        );
      }),
  };
}
