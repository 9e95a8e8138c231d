import { type ApiClient, imageAttachment, type ModelCall, type ModelController, pngOf } from '@runwire/test-kit';
import { expectNumber, within } from './proof.ts';

export const INTEGRATION = 'house';
export const PATH = `/v2/integrations/${INTEGRATION}`;
export const MEMBERS = ['ann', 'bob', 'eve'];
const WAIT_MS = 60_000;
/** A run whose message says so stays at its second call of the model until it may go on. */
const HELD = 'hold';

type Body = Parameters<ApiClient['complete']>[0];

/** The model of all servers: each run calls a tool, and answers. */
export class Script {
  readonly #mayGoOn = Promise.withResolvers<void>();
  #held = 0;

  constructor(model: ModelController) {
    model.onCall = (call) => void this.#answer(call);
  }

  async #answer(call: ModelCall): Promise<void> {
    const { prompt, step, runId } = call.request;
    const said = prompt.findLast((item) => item.kind === 'user')?.text ?? '';
    if (step === 1) {
      await call.text('Let me see. ');
      await call.toolCall(`call-${runId}`, 'echo', JSON.stringify({ said }));
    } else {
      if (said === HELD) {
        this.#held += 1;
        await call.text('So far ');
        await this.#mayGoOn.promise;
      }
      await call.text(`You said ${said}.`);
    }
    await call.end();
  }

  get held(): number {
    return this.#held;
  }

  letGo(): void {
    this.#mayGoOn.resolve();
  }
}

/** Callers that send one message after the other until they are told to stop. */
export class Load {
  /** Every request that was sent, by its `usageRequestId`. */
  readonly sent = new Map<string, Body>();
  completed = 0;
  readonly #apis: readonly ApiClient[];
  readonly #callers: Promise<void>[];
  #stopped = false;
  #wake: (() => void)[] = [];

  constructor(apis: readonly ApiClient[], callers: number) {
    this.#apis = apis;
    this.#callers = Array.from({ length: callers }, (_, caller) => this.#call(caller));
  }

  /** Sends a message whose run does not end. */
  async hold(place: number): Promise<void> {
    const reader = await this.#post(this.#body(`held-${place}`, place, HELD, place % 2 === 0));
    void reader.over;
  }

  #body(chatId: string, turn: number, message: string, hasImage: boolean): Body {
    const consumerId = MEMBERS[turn % MEMBERS.length] ?? '';
    const attachments = hasImage ? [imageAttachment(pngOf(2000 + this.sent.size, turn % 256))] : [];
    const fields = { apiIntegrationId: INTEGRATION, consumerId, chatId: `${chatId}-${consumerId}`, message };
    const body = { ...fields, attachments, usageRequestId: `${chatId}/${turn}` };
    this.sent.set(body.usageRequestId, body);
    return body;
  }

  async #post(body: Body) {
    const api = this.#apis[this.sent.size % this.#apis.length] as ApiClient;
    const reader = await within('head of a post', WAIT_MS, api.complete(body));
    expectNumber('status of a post', reader.status, 200);
    return reader;
  }

  async #call(caller: number): Promise<void> {
    for (let turn = 1; !this.#stopped; turn += 1) {
      const reader = await this.#post(this.#body(`chat-${caller}`, turn, `word ${turn}`, turn % 3 === 0));
      await within('end of a stream', WAIT_MS, reader.over);
      this.completed += 1;
      for (const wake of this.#wake.splice(0)) wake();
    }
  }

  /** Resolves when so many more runs have ended. */
  async more(runs: number): Promise<void> {
    const until = this.completed + runs;
    const progress = async () => {
      while (this.completed < until) await new Promise<void>((resolve) => this.#wake.push(resolve));
    };
    // A caller that failed says why.
    await within(`${runs} more runs`, WAIT_MS, Promise.race([progress(), Promise.all(this.#callers)]));
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all(this.#callers);
  }
}
