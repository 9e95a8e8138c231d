import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { InputUsage, Model, ModelOutput, ModelRequest, Replay } from '../model.ts';
import { ModelFailure } from '../model-failure.ts';
import type { Usage } from '../usage.ts';

export interface ModelHarness extends AsyncDisposable {
  readonly model: Model;
  /** A message that is answered in several pieces. */
  readonly ask: string;
  /** A message that is answered with one piece or more, and then fails. */
  readonly failing: string;
  /** A message that is answered with one piece immediately, and with nothing more for a minute. */
  readonly endless: string;
  /** A message whose answer is larger than one read of a connection. */
  readonly long: string;
  /** The number of open connections to the provider, counted at the client's end. */
  openConnections(): number;
}

export type OutputPart = readonly ['text' | 'reasoning', string] | readonly ['call', string, string, string];

/** One part of the output of a model. */
export class Listener implements ModelOutput {
  readonly heard: OutputPart[] = [];
  reported: Usage | null = null;
  reportedInput: InputUsage | null = null;
  readonly replays: Replay[] = [];
  /** How often the provider began to answer. */
  begins = 0;
  /** Pieces of the arguments of tool calls. */
  argumentsText = '';
  /** True if the output is full from the first piece on, until `makeRoom`. */
  readonly #fillsUp: boolean;
  #onRoom: (() => void) | null = null;
  #isFull = false;
  readonly #held = Promise.withResolvers<void>();
  readonly #waiting: (() => void)[] = [];

  constructor({ fillsUp = false } = {}) {
    this.#fillsUp = fillsUp;
  }

  get isFull(): boolean {
    return this.#isFull;
  }

  onceRoom(onRoom: () => void): void {
    this.#onRoom = onRoom;
    this.#held.resolve();
  }

  /** Resolves when the model waits for room. */
  get held(): Promise<void> {
    return this.#held.promise;
  }

  makeRoom(): void {
    this.#isFull = false;
    this.#onRoom?.();
  }

  begun(): void {
    this.begins += 1;
  }
  argumentsPiece(text: string): void {
    this.argumentsText += text;
  }
  text(text: string): void {
    this.#hear(['text', text]);
  }
  reasoning(text: string): void {
    this.#hear(['reasoning', text]);
  }
  toolCall(callId: string, name: string, argumentsText: string): void {
    this.#hear(['call', callId, name, argumentsText]);
  }
  usage(usage: Usage): void {
    this.reported = usage;
  }
  inputUsage(input: InputUsage): void {
    this.reportedInput = input;
  }
  replay(replay: Replay): void {
    this.replays.push(replay);
  }

  /** Resolves when a piece has arrived. */
  async first(): Promise<void> {
    if (this.heard.length === 0) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  all(kind: 'text' | 'reasoning'): string {
    return this.heard.map((one) => (one[0] === kind ? one[1] : '')).join('');
  }

  get calls(): (readonly string[])[] {
    return this.heard.filter(([kind]) => kind === 'call').map((call) => call.slice(1));
  }

  #hear(one: OutputPart): void {
    this.heard.push(one);
    if (this.#fillsUp && this.heard.length === 1) this.#isFull = true;
    for (const wake of this.#waiting.splice(0)) wake();
  }
}

export function modelRequest(text: string, more: Partial<ModelRequest> = {}): ModelRequest {
  return {
    runId: 'run_1',
    step: 1,
    attempt: 1,
    instructions: 'Be brief.',
    prompt: [{ kind: 'user', text }],
    tools: [],
    ...more,
  };
}

const never = () => new AbortController().signal;

/** What every model promises; each adapter runs it. */
export function modelConformance(name: string, start: () => Promise<ModelHarness>): void {
  const modelTest = (claim: string, body: (harness: ModelHarness) => Promise<void>) =>
    test(`${name}: ${claim}`, async () => {
      await using harness = await start();
      await body(harness);
    });

  modelTest('sends its answer in several pieces and reports its usage', async ({ model, ask }) => {
    const output = new Listener();
    const { usage } = await model.call(modelRequest(ask), output, never());
    assert.ok(output.heard.length > 1);
    assert.ok(usage !== null);
    assert.equal(usage.requestCount, 1);
    for (const tokens of Object.values(usage)) assert.ok(Number.isInteger(tokens) && tokens >= 0);
    assert.ok(usage.inputTokens > 0 && usage.outputTokens > 0);
  });

  modelTest('the same question gives the same answer, also in concurrent calls', async ({ model, ask }) => {
    const outputs = Array.from({ length: 5 }, () => new Listener());
    await Promise.all(outputs.map((output) => model.call(modelRequest(ask), output, never())));
    assert.notEqual(outputs[0]?.all('text'), '');
    for (const output of outputs) assert.equal(output.all('text'), outputs[0]?.all('text'));
  });

  modelTest('a failure is a ModelFailure of one line, after the text before it', async ({ model, failing }) => {
    const output = new Listener();
    await assert.rejects(model.call(modelRequest(failing), output, never()), (error) => {
      assert.ok(error instanceof ModelFailure, String(error));
      assert.equal(error.code, 'model_error');
      assert.match(error.message, /^[^\n]+\.$/);
      return true;
    });
    assert.notEqual(output.all('text'), '');
  });

  modelTest('an aborted call rejects with the reason and closes its connection', async (harness) => {
    const output = new Listener();
    const controller = new AbortController();
    const call = harness.model.call(modelRequest(harness.endless), output, controller.signal);
    await output.first();
    const heard = output.heard.length;
    controller.abort();
    await assert.rejects(call, { name: 'AbortError' });
    assert.equal(harness.openConnections(), 0);
    assert.equal(output.heard.length, heard);
  });

  modelTest('a call that is aborted before it begins sends no request', async ({ model, ask }) => {
    const output = new Listener();
    await assert.rejects(model.call(modelRequest(ask), output, AbortSignal.abort()), { name: 'AbortError' });
    assert.deepEqual(output.heard, []);
  });

  modelTest('sends nothing while there is no room, and then the whole rest', async ({ model, long }) => {
    const whole = new Listener();
    await model.call(modelRequest(long), whole, never());
    const output = new Listener({ fillsUp: true });
    const call = model.call(modelRequest(long), output, never());
    await output.held;
    const heard = output.heard.length;
    assert.ok(heard < whole.heard.length);
    // Long enough for everything in progress to arrive if it were accepted.
    await new Promise((resolve) => setTimeout(resolve, 300));
    assert.equal(output.heard.length, heard);
    output.makeRoom();
    await call;
    assert.equal(output.all('text') === whole.all('text'), true);
  });

  modelTest('a call that waits for room is aborted like any other', async ({ model, long, openConnections }) => {
    const output = new Listener({ fillsUp: true });
    const controller = new AbortController();
    const call = model.call(modelRequest(long), output, controller.signal);
    await output.held;
    const heard = output.heard.length;
    controller.abort();
    await assert.rejects(call, { name: 'AbortError' });
    assert.equal(openConnections(), 0);
    output.makeRoom();
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(output.heard.length, heard);
  });

  modelTest('accepts every reasoning setting of an agent', async ({ model, ask }) => {
    const asked: NonNullable<ModelRequest['reasoning']>[] = [{}, { effort: 'low' }, { summary: 'auto' }];
    for (const reasoning of [...asked, { effort: 'high', summary: 'detailed' } as const]) {
      const output = new Listener();
      await model.call(modelRequest(ask, { reasoning }), output, never());
      assert.notEqual(output.all('text'), '');
    }
  });
}
