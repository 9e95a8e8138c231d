import {
  FakeProvider,
  type Frame,
  type ModelCall,
  type ProviderCall,
  providerEvents,
  type Rig,
  type StreamReader,
  sseText,
} from '@runwire/test-kit';
import { expectEqual, WAIT_MS, within } from '@runwire/test-kit/shortfall.ts';
import { AgenciesFolder } from './agencies-folder.ts';
import { AGENCY_FILES, type Answering, type Call, type Plan, SERVED, type Turn } from './rerun-plans.ts';
import { type Body, isFinished, listAll, whole } from './story.ts';
import { isSummaryCall } from './summarizing-model.ts';

/* What the proofs `rerun` and `rerun-live` share: the models that play the plans, the recorded runs, and what is compared. */

export const INTEGRATION = 'again';
export const MEMBER = 'ann';
/** A model that no agent names. It plays the same plans. */
export const OTHER_MODEL = 'openai/other';
const USAGE = { requestCount: 1, inputTokens: 40, cachedTokens: 0, outputTokens: 6, reasoningTokens: 0 };
/** Earlier turns that are longer do not fit into a prompt. */
const WINDOW_TOKENS = 4000;
const LONG_TEXT = '.'.repeat(5000);
const EARLIER: Plan = { agent: 'Lead', end: 'completed', scripts: { a: [{ pieces: ['Hello.'] }] } };

/** What a model knows: users' texts, and the ids that calls with an output have. */
interface PromptParts {
  readonly users: readonly string[];
  readonly outputs: readonly string[];
}

/** Decides before each model event whether it is sent. After false the model is silent. */
export type Brake = () => Promise<boolean>;

/** A plan's ended run, and what its models were sent. */
export interface Original {
  readonly label: string;
  readonly plan: Plan;
  readonly runId: string;
  readonly run: Body;
  /** Its steps, oldest first; also those without a result. */
  readonly steps: readonly Body[];
  readonly result: Result;
  /** What a model was sent, by the step's number. */
  readonly sent: ReadonlyMap<number, string>;
}

/** What must be equal in all reruns. */
export interface Result {
  readonly status: string;
  readonly message: string;
  readonly output: unknown;
  readonly error: unknown;
  readonly pending: readonly string[];
}

export class RerunStage implements AsyncDisposable {
  readonly provider: FakeProvider;
  readonly #folder = new AgenciesFolder(AGENCY_FILES);
  readonly #plans = new Map<string, Plan>();
  readonly #cancelled = new Set<string>();
  readonly #reached = new Map<string, PromiseWithResolvers<void>>();
  readonly #held = new Set<string>();
  readonly #sent = new Map<string, { readonly step: number; readonly text: string }[]>();
  readonly #brakes = new Map<string, PromiseWithResolvers<Brake>>();
  /** True while each run's models wait for its brake. */
  isBraking = false;
  #outputs = 0;
  /** The port at which the tools are served. */
  #port = 0;

  private constructor(provider: FakeProvider) {
    this.provider = provider;
    provider.onCall = (call) => void this.#answer(call).catch(() => {});
  }

  static async open(): Promise<RerunStage> {
    return new RerunStage(await FakeProvider.start());
  }

  get env(): Record<string, string> {
    return {
      RUNWIRE_AGENCIES_DIR: this.#folder.path,
      RUNWIRE_MODEL_WINDOW: String(WINDOW_TOKENS),
      RUNWIRE_SANDBOX: 'just-bash',
      OPENAI_BASE_URL: this.provider.baseUrl,
      OPENAI_API_KEY: 'sk-1',
    };
  }

  /** Plays the plans on this rig, and makes the integration with its member. */
  async play(rig: Rig): Promise<void> {
    this.#port = rig.gate.port;
    rig.model.onCall = (call) => void this.#play(call).catch(() => {});
    rig.gate.onCall = ({ callId }) => {
      if (this.#held.has(callId)) this.#reach(callId.split('-')[0] ?? '').resolve();
      else rig.gate.open(callId, `output ${++this.#outputs}`);
    };
    const allowances = { unit: 'runs', limit: 1_000_000, period: 'lifetime' };
    await rig.prepare({ apiIntegrationId: INTEGRATION, agency: 'again', fileAccess: 'all', allowances }, MEMBER);
  }

  /** What the run's models were sent, each text once, sorted. */
  sentTo(runId: string): string[] {
    return [...new Set((this.#sent.get(runId) ?? []).map(({ text }) => text))].toSorted();
  }

  /** How often the run's models were asked. */
  countCalls = (runId: string): number => this.#sent.get(runId)?.length ?? 0;

  brake(runId: string): PromiseWithResolvers<Brake> {
    return getOrMake(this.#brakes, runId, () => Promise.withResolvers<Brake>());
  }

  #reach(label: string): PromiseWithResolvers<void> {
    return getOrMake(this.#reached, label, () => Promise.withResolvers<void>());
  }

  /** Returns the model's next answer, and the calls with their ids and arguments. */
  #next({ users, outputs }: PromptParts) {
    const [, label = '', script = ''] = users.flatMap((text) => /^(\w+) ([a-z])$/m.exec(text) ?? []).slice(-3);
    const turns = (this.#plans.get(label) ?? EARLIER).scripts[script] ?? [];
    const prefix = `${label}-${script}-`;
    const done =
      outputs.filter((callId) => callId.startsWith(prefix)).length +
      users.filter((text) => text.startsWith('Your answer cannot be used')).length;
    let before = 0;
    const next = turns.find((one) => {
      const isNext = before === done;
      before += weigh(one);
      return isNext;
    });
    if (next === undefined) throw new Error(`The script ${script} of ${label} has no turn after ${done}.`);
    let number = done;
    const pieces = next.pieces.map((piece) => {
      if (typeof piece === 'string') return piece;
      number += 1;
      return [`${prefix}${number}`, piece, toArguments(piece, label, this.#port)] as const;
    });
    return { label, turn: next, pieces };
  }

  async #play(call: ModelCall): Promise<void> {
    const { runId, step, attempt: _attempt, ...shown } = call.request;
    getOrMake(this.#sent, runId, () => []).push({ step, text: JSON.stringify(shown) });
    if (isSummaryCall(call)) {
      await call.text('They said hello.');
      return call.end();
    }
    const brake = this.isBraking ? await this.brake(runId).promise : async () => true;
    const { label, turn, pieces } = this.#next(toParts(call));
    if (turn.hangs === true && !this.#cancelled.has(label)) return this.#reach(label).resolve();
    for (const piece of pieces) {
      if (!(await brake())) return;
      if (typeof piece === 'string') await call.text(piece);
      else {
        const [callId, { tool, isHeld }, given] = piece;
        if (isHeld === true) this.#held.add(callId);
        await call.toolCall(callId, tool, given);
      }
    }
    if (!(await brake())) return;
    await (turn.fails === true ? call.fail('model_error', 'The model has failed.') : call.end());
  }

  /** The provider's models: the first refuses all calls, the other one plays. */
  async #answer(call: ProviderCall): Promise<void> {
    if (call.body.model !== OTHER_MODEL.split('/')[1]) return call.answer(401, { error: { message: 'No.' } });
    const { turn, pieces } = this.#next(toProviderParts(call));
    if (turn.fails === true) return call.answer(400, { error: { message: 'No.' } });
    const texts = pieces.filter((piece) => typeof piece === 'string');
    const calls = pieces.flatMap((piece) =>
      typeof piece === 'string' ? [] : ([[piece[0], piece[1].tool, piece[2]]] as const),
    );
    const parts = [
      ...(texts.length === 0 ? [] : [{ kind: 'text', deltas: texts } as const]),
      ...(calls.length === 0 ? [] : [{ kind: 'calls', calls } as const]),
    ];
    await call.stream(sseText(providerEvents('responses', { parts, usage: USAGE })));
  }

  /** Has the plan run, and answers its questions. Resolves to its runs: several if it asked. */
  async record(rig: Rig, label: string, plan: Plan): Promise<readonly Original[]> {
    this.#plans.set(label, plan);
    const send = (more: object) =>
      rig.api().complete({ apiIntegrationId: INTEGRATION, chatId: label, consumerId: MEMBER, ...more });
    const earlier = plan.isLong === true ? [LONG_TEXT, LONG_TEXT] : [''];
    for (const [index, text] of earlier.entries())
      await whole(send({ message: `before${label} a\n${text}`, usageRequestId: `${label}-before${index}` }));
    const originals: Original[] = [];
    let body: object = { message: `${label} a`, agent: plan.agent };
    for (let part = 1; ; part += 1) {
      const reader = await send({ ...body, usageRequestId: `${label}-${part}` });
      expectEqual(`status of ${label}`, reader.status, 200);
      const runId = String(reader.headers['x-run-id']);
      if (plan.end === 'cancelled') await this.#cancel(rig, label, runId);
      await within(`end of ${label}`, WAIT_MS, reader.over);
      const original = await this.#toOriginal(rig, { label, plan, runId }, reader);
      originals.push(original);
      const { pending } = toMessages(reader.frames);
      if (pending.length === 0 || plan.answering === undefined) break;
      body = toAnswers(plan.answering, pending);
    }
    expectEqual(`end of ${label}`, originals.at(-1)?.result.status, plan.end);
    await whole(send({ message: `after${label} a`, usageRequestId: `${label}-after` }));
    return originals;
  }

  async #cancel(rig: Rig, label: string, runId: string): Promise<void> {
    await within(`the moment at which ${label} is cancelled`, WAIT_MS, this.#reach(label).promise);
    await rig.api().post(`${rig.path}/runs/${runId}/cancel`, { mode: 'immediate' });
    this.#cancelled.add(label);
  }

  async #toOriginal(
    rig: Rig,
    about: Pick<Original, 'label' | 'plan' | 'runId'>,
    reader: StreamReader,
  ): Promise<Original> {
    const { runId } = about;
    const { body: run } = await rig.api().get(`${rig.path}/runs/${runId}`);
    const steps = (await listAll(rig.api(), `${rig.path}/runs/${runId}/steps`)).toReversed();
    const sent = new Map((this.#sent.get(runId) ?? []).map(({ step, text }) => [step, text]));
    return { ...about, run, steps, result: toResult(run, toMessages(reader.frames)), sent };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#folder[Symbol.dispose]();
    await this.provider[Symbol.asyncDispose]();
  }
}

function getOrMake<T>(all: Map<string, T>, key: string, make: () => T): T {
  const known = all.get(key);
  if (known !== undefined) return known;
  const made = make();
  all.set(key, made);
  return made;
}

/** How many outputs or repairs follow a turn. */
const weigh = ({ pieces, isWrong }: Turn) =>
  isWrong === true ? 1 : pieces.filter((piece) => typeof piece !== 'string').length;

const toParts = ({ request: { prompt } }: ModelCall): PromptParts => ({
  users: prompt.flatMap((item) => (item.kind === 'user' ? [item.text] : [])),
  outputs: prompt.flatMap((item) => (item.kind === 'tool_output' ? [item.callId] : [])),
});

function toProviderParts({ body }: ProviderCall): PromptParts {
  const items: Body[] = body.input;
  const text = ({ content }: Body): string =>
    typeof content === 'string' ? content : content.map((part: Body) => part.text ?? '').join('');
  return {
    users: items.flatMap((item) => (item.role === 'user' ? [text(item)] : [])),
    outputs: items.flatMap((item) => (item.type === 'function_call_output' ? [item.call_id] : [])),
  };
}

function toArguments({ tool, given = {}, script }: Call, label: string, port: number): string {
  if (script !== undefined) return JSON.stringify({ ...given, message: `${label} ${script}` });
  return JSON.stringify(SERVED.has(tool) ? { port, ...given } : given);
}

function toAnswers(answering: Answering, pending: readonly Body[]): object {
  if (answering === 'ignore') return { message: 'Never mind.' };
  const answers = pending.map(({ question_id: questionId }) =>
    answering === 'output' ? { questionId, output: { lat: 1 } } : { questionId, approve: answering === 'approve' },
  );
  return { message: '', answers };
}

/** `data` of the frame `messages`. */
export function toMessages(frames: readonly Frame[]): Body {
  const frame = frames.find(({ event }) => event === 'messages');
  if (frame === undefined) throw new Error('There is no frame `messages`.');
  return JSON.parse(frame.data);
}

export const toResult = (run: Body, { status, error, output, pending }: Body): Result => ({
  status,
  message: run.message,
  output,
  error: error === null ? null : [error.code, error.message],
  pending: pending.map((question: Body) => question.call_id).toSorted(),
});

const isAnswerOrCall = ({ kind }: Body) => kind === 'model' || kind === 'tool';

/** Lists the steps after which a run is rerun: each finished step in the root loop, but not a completed run's last step. */
export function listPoints({ steps, run }: Original): readonly number[] {
  const last = Math.max(0, ...steps.filter(isFinished).map(({ step }) => step));
  const isPoint = (one: Body) =>
    one.loop === null && isFinished(one) && isAnswerOrCall(one) && !(run.status === 'completed' && one.step === last);
  const points = steps.filter(isPoint);
  return [0, ...points.map(({ step }) => step)];
}

/** Finds the numbers that a rerun's kept steps have. */
export function findKept({ steps }: Original, afterStep: number): ReadonlySet<number> {
  const kept = new Set<number>();
  const keep = (loop: string | null, limit: number) => {
    for (const one of steps) {
      if (one.loop !== loop || one.step > limit || !(loop !== null || isFinished(one))) continue;
      kept.add(one.step);
      if (one.kind === 'tool') keep(one.callId, Number.POSITIVE_INFINITY);
    }
  };
  keep(null, afterStep);
  for (const { kind, step } of steps) if (kind === 'summary') kept.add(step);
  return kept;
}
