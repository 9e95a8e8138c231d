import { makeOnePixelPng } from './sample-images.ts';

/* An MCP server that misbehaves on demand. It is written without an SDK, so that it can send what no SDK would. */

type Fields = Readonly<Record<string, unknown>>;

export interface McpMessage {
  readonly jsonrpc: '2.0';
  readonly id?: number | string;
  readonly method?: string;
  readonly params?: Fields;
}

/** How a message leaves the server. */
export interface McpOutlet {
  /** Sends a message that belongs to the request. */
  send(message: object): void;
  /** Sends a notification that belongs to no request. */
  notify(message: object): void;
  /** Writes bytes that are no message. */
  garbage(text: string): void;
  /** Ends the process, or what represents it. */
  die(): void;
  /** What the tool `about` shows. */
  readonly about: Fields;
}

const pictures = (count: number) =>
  Array.from({ length: count }, (_, n) => ({
    type: 'image',
    mimeType: 'image/png',
    data: makeOnePixelPng(3000 + n, n).toString('base64'),
  }));

const tool = (name: string, more: object = {}) => ({
  name,
  description: `Does ${name}.`,
  inputSchema: { type: 'object', properties: {} },
  ...more,
});

export interface McpScript {
  /** Further tools, named `extra_0`, `extra_1` and so on. */
  readonly extraTools?: number;
  /** True if there are tools whose schemas attack the client. */
  readonly isHostile?: boolean;
  /** True if the list of tools has no end. */
  readonly isEndless?: boolean;
}

/** A text for which the pattern takes hours. */
const SLOW_PATTERN = '^(a+)+$';
const SLOW_TEXT = `${'a'.repeat(60)}b`;
/** The SDK refuses a list with a schema of 1 500 levels, and accepts this one. */
const DEEP_SCHEMA = Array.from({ length: 300 }).reduce<object>((inner) => ({ items: inner }), {});

const HOSTILE_TOOLS = [
  tool('slow pattern', {
    outputSchema: { type: 'object', properties: { text: { type: 'string', pattern: SLOW_PATTERN } } },
  }),
  tool('no properties', { inputSchema: { type: 'object' } }),
  // The SDK refuses the whole list because of the next two.
  tool('no object', { inputSchema: { type: 'string' } }),
  tool('no schema', { inputSchema: undefined }),
  tool('wrong schema', { inputSchema: { type: 'object', properties: { a: { type: 'strin' } } } }),
  tool('deep schema', { inputSchema: { type: 'object', properties: { a: DEEP_SCHEMA } } }),
];

/** Messages that no client expects. */
export const WEIRD_LINES: readonly string[] = [
  'null',
  '42',
  '[]',
  '[{"jsonrpc":"2.0","id":1,"result":{}}]',
  '{"jsonrpc":"2.0","id":null,"result":{}}',
  '{"jsonrpc":"2.0","id":99999,"result":{}}',
  '{"jsonrpc":"2.0","id":"x","error":{"code":1,"message":"m"}}',
  '{"jsonrpc":"2.0","id":-1,"error":null}',
  '{"jsonrpc":"2.0","id":7,"method":"sampling/createMessage","params":{"messages":[],"maxTokens":1}}',
  '{"jsonrpc":"2.0","id":8,"method":"roots/list"}',
  '{"jsonrpc":"2.0","id":9,"method":"ping","params":null}',
  '{"jsonrpc":"2.0","id":10,"method":"__proto__","params":{"__proto__":{"polluted":true}}}',
  '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":{},"progress":"x"}}',
  '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":12345,"progress":1}}',
  '{"jsonrpc":"2.0","method":"notifications/progress"}',
  '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}',
  '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"error","data":"x"}}',
  '{"jsonrpc":"2.0","method":"constructor"}',
  '{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":[]}',
  `${'['.repeat(100_000)}${']'.repeat(100_000)}`,
  `{"jsonrpc":"2.0","method":"x","params":${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}}`,
];

/** Counts the calls by the tool's name. */
export class ScriptedMcp {
  readonly calls: { readonly tool: string; readonly arguments: Fields; readonly meta: Fields }[] = [];
  readonly cancelled: unknown[] = [];
  readonly #pings = new Map<McpMessage['id'], () => void>();
  #extraTools: number;
  readonly #isHostile: boolean;
  readonly #isEndless: boolean;

  constructor({ extraTools = 0, isHostile = false, isEndless = false }: McpScript = {}) {
    this.#extraTools = extraTools;
    this.#isHostile = isHostile;
    this.#isEndless = isEndless;
  }

  #tools(): readonly object[] {
    return [
      tool('echo', { annotations: { readOnlyHint: true } }),
      tool('about'),
      tool('die'),
      tool('hang'),
      tool('garbage'),
      tool('big'),
      tool('change'),
      tool('progress'),
      tool('picture'),
      tool('structured'),
      tool('fail'),
      tool('needs task', { execution: { taskSupport: 'required' } }),
      tool('two words'),
      ...(this.#isHostile ? HOSTILE_TOOLS : []),
      ...Array.from({ length: this.#extraTools }, (_, n) => tool(`extra_${n}`)),
    ];
  }

  async receive({ id, method, params = {} }: McpMessage, outlet: McpOutlet): Promise<void> {
    const answer = (result: object) => outlet.send({ jsonrpc: '2.0', id, result });
    switch (method) {
      case undefined:
        return this.#pings.get(id)?.();
      case 'initialize':
        return answer({
          protocolVersion: params.protocolVersion,
          capabilities: { tools: { listChanged: true } },
          serverInfo: { name: 'scripted', version: '1' },
        });
      case 'tools/list':
        if (!this.#isEndless) return answer({ tools: this.#tools() });
        return answer({
          tools: [tool(`page_${id}`, { description: 'x'.repeat(1024 * 1024) })],
          nextCursor: String(id),
        });
      case 'tools/call':
        return this.#call(params, outlet, answer);
      case 'notifications/cancelled':
        this.cancelled.push(params.requestId);
        return;
      default:
        if (id === undefined) return;
        outlet.send({ jsonrpc: '2.0', id, error: { code: -32601, message: 'Method not found' } });
    }
  }

  /** Resolves when the client has answered, so it has received everything that was sent before. */
  #ping(outlet: McpOutlet): Promise<void> {
    const id = `ping_${this.#pings.size}`;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#pings.set(id, resolve);
    outlet.send({ jsonrpc: '2.0', id, method: 'ping' });
    return promise;
  }

  async #call(params: Fields, outlet: McpOutlet, answer: (result: object) => void): Promise<void> {
    const {
      name,
      arguments: given = {},
      _meta: meta = {},
    } = params as { name: string; arguments?: Fields; _meta?: Fields };
    this.calls.push({ tool: name, arguments: given, meta });
    const text = (value: string) => answer({ content: [{ type: 'text', text: value }] });
    switch (name) {
      case 'echo':
        return text(String(given.text));
      case 'about':
        return text(JSON.stringify({ ...outlet.about, meta }));
      case 'die':
        return outlet.die();
      case 'hang':
        return;
      case 'garbage':
        outlet.garbage('Listening on nothing\n{"half":\n{"jsonrpc":"2.0"}\n\u0000\u0001\n');
        if (this.#isHostile) outlet.garbage(`${WEIRD_LINES.join('\n')}\n`);
        return text('after garbage');
      case 'slow pattern':
        return answer({ content: [], structuredContent: { text: SLOW_TEXT } });
      case 'big':
        return text('x'.repeat(Number(given.characters)));
      case 'change':
        this.#extraTools += 1;
        outlet.notify({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' });
        return text('changed');
      case 'progress': {
        for (let progress = 1; progress <= Number(given.times); progress += 1) {
          await new Promise((resolve) => setTimeout(resolve, Number(given.everyMs)));
          const more = { progress, total: given.times, message: `part ${progress}` };
          outlet.send({
            jsonrpc: '2.0',
            method: 'notifications/progress',
            params: { progressToken: meta.progressToken, ...more },
          });
          // The SDK drops a progress that arrives together with the result.
          await this.#ping(outlet);
        }
        return text('done');
      }
      case 'picture':
        if (typeof given.count === 'number') return answer({ content: pictures(given.count) });
        return answer({
          content: [
            { type: 'text', text: 'See:' },
            { type: 'image', mimeType: 'image/png', data: 'AAAA' },
            { type: 'audio', mimeType: 'audio/wav', data: 'AAA=' },
          ],
        });
      case 'structured':
        return answer({ content: [], structuredContent: { answer: 42 } });
      case 'fail':
        return answer({ content: [{ type: 'text', text: 'No such invoice.' }], isError: true });
      default:
        return text(`called ${name}`);
    }
  }
}
