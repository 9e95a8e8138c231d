import { FakeProvider, type ProviderCall, providerEvents, sseText } from '@runwire/test-kit';
import { until } from '@runwire/test-kit/shortfall.ts';
import { AgenciesFolder, type Files } from '../support/agencies-folder.ts';

/*
 * A folder of agencies and a provider for evals. The provider plays what the message contains, one line per model step:
 *
 *   call find_invoice {"invoice":"A1"}
 *   say It costs 99 euros.
 *
 * With `vary A|B` the first run answers A, the second one B, and so on. A judge gives the score in its criteria.
 */

const USAGE = { requestCount: 1, inputTokens: 40, cachedTokens: 0, outputTokens: 10, reasoningTokens: 0 };

export const AGENCY = `name: Shop
toolFiles: [./tools.ts]
agents:
  - name: Triage
    description: Finds out what the user needs.
    instructions: Route.
    tools: [find_invoice, close_account]
  - name: Billing
    description: Refunds.
    instructions: Refund.
    tools: [find_invoice, refund]
    approval: [refund]
  - name: Reporter
    description: Reports.
    instructions: Report.
    output: { type: object, properties: { n: { type: integer } }, required: [n], additionalProperties: false }
entryPoints: [Triage, Billing, Reporter]
flows:
  - Triage => Billing
  - Triage -> Reporter
`;

/** Every call that is executed ends the process: evals give the outcomes. */
export const TOOLS = `import { defineTool } from '@runwire/agency';
const tool = (name) => defineTool({
  name,
  description: name,
  inputSchema: { type: 'object' },
  execute: () => process.exit(1),
});
export const find_invoice = tool('find_invoice');
export const refund = tool('refund');
export const close_account = tool('close_account');
`;

/** Agencies with evals, and the provider that their models ask. */
export class EvalStage implements AsyncDisposable {
  readonly folder: AgenciesFolder;
  readonly provider: FakeProvider;
  readonly #turns = new Map<string, number>();
  /** True if calls of the model stay without an answer. */
  #isHeld = false;

  private constructor(folder: AgenciesFolder, provider: FakeProvider) {
    this.folder = folder;
    this.provider = provider;
    provider.onCall = (call) => {
      if (!this.#isHeld) void this.#answer(call).catch(() => call.cut());
    };
  }

  static async start(files: Files = {}): Promise<EvalStage> {
    const shop = { 'shop/agency.yaml': AGENCY, 'shop/tools.ts': TOOLS };
    return new EvalStage(new AgenciesFolder({ ...shop, ...files }), await FakeProvider.start());
  }

  /** The environment of a server, or of `runwire evals`, with the agencies. */
  get env(): Readonly<Record<string, string>> {
    return {
      ...this.provider.env('chat'),
      RUNWIRE_AGENCIES_DIR: this.folder.path,
      RUNWIRE_SANDBOX: 'off',
      RUNWIRE_PRICES: JSON.stringify({
        currency: 'EUR',
        models: {
          'openai/some-model': { input: 1, cachedInput: 1, output: 1 },
          'openai/other-model': { input: 2, cachedInput: 2, output: 2 },
        },
      }),
      HOME: this.folder.path,
    };
  }

  /** Each run of a message that varies begins with its first answer again. */
  reset(): void {
    this.#turns.clear();
  }

  hold(): void {
    this.#isHeld = true;
  }

  /** Resolves when models were asked this often. */
  async waitForCalls(calls: number): Promise<void> {
    await until(`${calls} calls of models`, () => this.provider.calls.length >= calls);
  }

  async #answer(call: ProviderCall): Promise<void> {
    const messages = call.body.messages as readonly { readonly role: string; readonly content: unknown }[];
    const last = messages.findLastIndex(({ role }) => role === 'user');
    const text = String(messages[last]?.content);
    const line = text.startsWith('<criteria>')
      ? verdictLine(text)
      : (text.split('\n')[messages.slice(last).filter(({ role }) => role === 'assistant').length] ?? 'say ');
    const [, verb = '', rest = ''] = /^(\w+) ?([\s\S]*)$/.exec(line) ?? [];
    if (verb === 'fail') return call.answer(400, { error: { message: 'The model does not want to.' } });
    await call.stream(sseText(providerEvents('chat', { parts: [this.#part(verb, rest)], usage: USAGE })));
  }

  #part(verb: string, rest: string) {
    if (verb === 'call') {
      const calls = rest.split(' ;; ').map((one, index) => {
        const [, name = '', given = '{}'] = /^(\w+) ?(.*)$/.exec(one) ?? [];
        return [`call_${index}_${this.provider.calls.length}`, name, given || '{}'] as const;
      });
      return { kind: 'calls' as const, calls };
    }
    const words = rest.split('|');
    const turn = this.#turns.get(rest) ?? 0;
    if (verb === 'vary') this.#turns.set(rest, turn + 1);
    return { kind: 'text' as const, deltas: [verb === 'vary' ? (words[turn % words.length] ?? '') : rest] };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.provider[Symbol.asyncDispose]();
    this.folder[Symbol.dispose]();
  }
}

/** What the judge answers, by the criteria that it is given. */
function verdictLine(text: string): string {
  const [, criteria = ''] = /<criteria>\n([\s\S]*?)\n<\/criteria>/.exec(text) ?? [];
  if (criteria.includes('break')) return 'fail';
  const score = Number(/score ([\d.]+)/.exec(criteria)?.[1] ?? 1);
  return `say ${JSON.stringify({ score, reason: `The criteria: ${criteria}` })}`;
}
