import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import {
  type ApiClient,
  type ModelCall,
  ModelController,
  SCRIPTED_USAGE,
  type StreamReader,
  scriptedModel,
  startTestServer,
  type TestServer,
  testAgency,
} from '@runwire/test-kit';

interface ServerOptions extends NonNullable<Parameters<typeof startTestServer>[0]> {
  /** Another scripted model, controlled by the controller at this port. */
  readonly getModel?: (controllerPort: number) => ReturnType<typeof scriptedModel>;
}
type CompletionBody = Parameters<ApiClient['complete']>[0];

/** A run whose model waits for the test. */
export class HeldRun {
  readonly runId: string;
  readonly reader: StreamReader;
  readonly call: ModelCall;

  constructor(reader: StreamReader, call: ModelCall) {
    this.runId = String(reader.headers['x-run-id']);
    this.reader = reader;
    this.call = call;
  }

  /** Ends the answer, after this text, and reads the stream to its end. */
  async finish(text = '', usage = SCRIPTED_USAGE): Promise<void> {
    if (text !== '') await this.call.text(text);
    await this.call.end(usage);
    await this.reader.whole();
  }
}

/** What runs used, as an answer shows it, if each had one step of the scripted model. */
export const shownUsage = (runs = 1) => ({
  request_count: runs,
  input_tokens: runs * SCRIPTED_USAGE.inputTokens,
  cached_tokens: runs * SCRIPTED_USAGE.cachedTokens,
  output_tokens: runs * SCRIPTED_USAGE.outputTokens,
  reasoning_tokens: 0,
  total_tokens: runs * (SCRIPTED_USAGE.inputTokens + SCRIPTED_USAGE.outputTokens),
});

/** A time as the API writes it. */
export const ISO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** The real server with a model that the test controls, and the steps with which most tests begin. */
export class ScriptedServer implements AsyncDisposable {
  controller!: ModelController;
  server!: TestServer;
  readonly #counter = { next: 0 };

  private constructor() {}

  static async start(options: ServerOptions = {}): Promise<ScriptedServer> {
    const rig = new ScriptedServer();
    await rig.#start(options);
    return rig;
  }

  /** One server for all tests of a file or of a `describe`: it starts before the first and closes after the last. */
  static shared(options: ServerOptions | (() => ServerOptions) = {}): ScriptedServer {
    const rig = new ScriptedServer();
    before(() => rig.#start(typeof options === 'function' ? options() : options));
    after(() => rig[Symbol.asyncDispose]());
    return rig;
  }

  async #start({ getModel = scriptedModel, ...options }: ServerOptions): Promise<void> {
    // Closes the controller if the server does not start: its listener would keep the test file running.
    await using stack = new AsyncDisposableStack();
    this.controller = stack.use(await ModelController.start());
    const model = getModel(this.controller.port);
    this.server = await startTestServer({ model, agencies: { test: testAgency }, ...options });
    stack.move();
  }

  get api(): ApiClient {
    return this.server.api;
  }

  /** Makes an integration for a test that shares the server with others. */
  async integration(fields: Readonly<Record<string, unknown>> = {}): Promise<string> {
    this.#counter.next += 1;
    const apiIntegrationId = `test-${this.#counter.next}`;
    await created(this.api.post('/v2/integrations', { apiIntegrationId, ...fields }));
    return apiIntegrationId;
  }

  /** Makes another owner of the installation, with an integration. */
  async owner(email: string): Promise<{ readonly api: ApiClient; readonly apiIntegrationId: string }> {
    const { body } = await this.api.post('/v2/owners', { email });
    const api = this.api.as(body.apiKey);
    this.#counter.next += 1;
    const apiIntegrationId = `test-${this.#counter.next}`;
    await created(api.post('/v2/integrations', { apiIntegrationId }));
    return { api, apiIntegrationId };
  }

  /** Makes an integration with allowances and one registered member, `ann`. */
  async metered(
    allowances: Readonly<{ unit: string; limit: number; period: string }>,
    fields: Readonly<Record<string, unknown>> = {},
  ): Promise<string> {
    const apiIntegrationId = await this.integration({ allowances, ...fields });
    await this.member(apiIntegrationId, 'ann');
    return apiIntegrationId;
  }

  async member(integration: string, consumerId: string, fields: Readonly<Record<string, unknown>> = {}): Promise<void> {
    const { status } = await this.api.put(`/v2/integrations/${integration}/members/${consumerId}`, fields);
    if (status !== 200 && status !== 201) throw new Error(`The member was not registered: ${status}.`);
  }

  /** Reads the member's allowance. */
  async allowance(integration: string, consumerId = 'ann') {
    return (await this.api.get(`/v2/integrations/${integration}/members/${consumerId}`)).body.allowance;
  }

  /** Posts, and returns when the model was asked and waits. */
  async hold(body: CompletionBody): Promise<HeldRun> {
    const reader = await this.api.complete(body);
    if (reader.status !== 200) throw new Error(`Not admitted: ${reader.status} ${await wholeText(reader)}`);
    const call = await Promise.race([this.controller.nextCall(), reader.over.then(() => null)]);
    if (call === null) throw new Error(`The run ended before its model was asked: ${reader.text.slice(-2000)}`);
    return new HeldRun(reader, call);
  }

  /** Posts, and reads a whole answer of one text. */
  async answer(body: CompletionBody, text = 'Hi', usage = SCRIPTED_USAGE): Promise<HeldRun> {
    const held = await this.hold(body);
    await held.finish(text, usage);
    return held;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.server?.[Symbol.asyncDispose]();
    await this.controller?.[Symbol.asyncDispose]();
  }
}

async function created(answer: ReturnType<ApiClient['post']>): Promise<void> {
  const { status, body } = await answer;
  if (status !== 201) throw new Error(`Not created: ${status} ${JSON.stringify(body)}`);
}

async function wholeText(reader: StreamReader): Promise<string> {
  await reader.over;
  return reader.text;
}

/** The status, headers and body of a refused completion. */
export async function refusal(reader: StreamReader) {
  // An admitted run's stream may never end.
  assert.ok(reader.status >= 400, `The request was not refused: ${reader.status}`);
  const text = await wholeText(reader);
  return {
    status: reader.status,
    admitted: reader.headers['x-agent-run-admitted'],
    retryAfter: reader.headers['retry-after'],
    contentType: String(reader.headers['content-type']),
    body: JSON.parse(text) as Readonly<Record<string, unknown>> & { readonly error: string; readonly code: string },
  };
}

/** `data` of the frame `messages`. */
export function messagesFrame(reader: StreamReader) {
  const frame = reader.frames.find(({ event }) => event === 'messages');
  if (frame === undefined) throw new Error(`There is no frame \`messages\`:\n${reader.text.slice(-2000)}`);
  return JSON.parse(frame.data);
}
