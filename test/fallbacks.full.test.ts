import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { freePort, type ProviderCall, Rig, type StreamReader } from '@runwire/test-kit';
import { type BadProvider, misbehave, SILENCE_MS } from '@runwire/test-kit/bad-providers.ts';
import { count, plantedFault } from '@runwire/test-kit/scale.ts';
import { expectAtLeast, expectEqual, named, WAIT_MS, within } from '@runwire/test-kit/shortfall.ts';
import { ADAPTERS } from './support/adapters-under-test.ts';
import { MODELS, openFourProviders, PROVIDERS } from './support/four-providers.ts';

type Play = BadProvider['plays'][number];
interface Case {
  readonly play: Play;
  /** How often the first model is asked, with its own retries. */
  readonly calls: number;
  /** True if it accepts the call, so its prompt is charged. */
  readonly begins?: true;
  readonly startTokens?: number;
}
/** The first model fails after a word: then no other model is asked. */
interface SaidCase {
  readonly play: Play;
  readonly answer: string;
}
const { unavailable, said }: { unavailable: Record<string, Case>; said: Record<string, SaidCase> } = JSON.parse(
  readFileSync(new URL('data/fallbacks.json', import.meta.url), 'utf8'),
);

/** The fallback of each model is the next one. */
const next = (place: number) => (place + 1) % MODELS.length;

const getAgency = (model: string, ...fallback: string[]) => `name: Chain
model: ${model}
fallback: [${fallback.join(', ')}]
agents:
  - { name: A, instructions: Be brief., tools: [list_files] }
`;

/** What the providers do with one run's calls; the message of the user names it. */
interface Script {
  readonly label: string;
  /** By the provider's place. Providers that are not named answer. */
  readonly plays: ReadonlyMap<number, readonly Play[]>;
  /** How often each provider was called. */
  readonly calls: number[];
}

const ANSWERS: readonly Play[] = [['stream', 'whole']];

class Stage {
  readonly #scripts = new Map<string, Script>();
  #rig!: Rig;

  get rig(): Rig {
    return this.#rig;
  }

  async start(stack: AsyncDisposableStack, fault: string | null): Promise<void> {
    const files: Record<string, string> = {
      'chain/agency.yaml': getAgency(MODELS[0] ?? '', ...MODELS.slice(1)),
      'away/agency.yaml': getAgency('ollama/first', MODELS[0] ?? ''),
    };
    for (const [place, model] of MODELS.entries()) {
      files[`from-${PROVIDERS[place]}/agency.yaml`] = getAgency(model, MODELS[next(place)] ?? '');
    }
    const away = { OLLAMA_BASE_URL: `http://127.0.0.1:${await freePort()}/v1` };
    const env = { ...away, ...(await openFourProviders(stack, files, (...call) => this.#answer(...call))) };
    this.#rig = stack.use(await Rig.start({ fault, env, limits: { modelSilenceMs: SILENCE_MS }, scripted: false }));
    for (const file of Object.keys(files)) {
      const id = file.split('/')[0] ?? '';
      await this.#rig.prepare({ apiIntegrationId: id, agency: id });
    }
  }

  #answer(place: number, call: ProviderCall, protocol: (typeof ADAPTERS)[number]['protocol']): void {
    // The newest message counts: a chat contains the earlier ones.
    const script = [...this.#scripts.values()].findLast(({ label }) => call.text.includes(`<${label}>`));
    if (script === undefined) throw new Error('A call of no run.');
    const count = (script.calls[place] ?? 0) + 1;
    script.calls[place] = count;
    const plays = script.plays.get(place) ?? ANSWERS;
    void misbehave(call, protocol, plays[Math.min(count, plays.length) - 1] ?? ['hang']);
  }

  async begin(integration: string, label: string, plays: readonly (readonly [number, readonly Play[]])[], more = {}) {
    const script: Script = { label, plays: new Map(plays), calls: MODELS.map(() => 0) };
    this.#scripts.set(label, script);
    const reader = await this.#rig
      .api()
      .complete({ apiIntegrationId: integration, message: `<${label}>`, usageRequestId: label, ...more });
    return { label, integration, script, reader };
  }

  /** Waits for the end. Returns what the caller got, and the tokens by model. */
  async end({ label, integration, reader }: { label: string; integration: string; reader: StreamReader }) {
    await within(`${label}: end`, WAIT_MS, reader.over);
    const ending = JSON.parse(reader.frames.find(({ event }) => event === 'messages')?.data ?? '{}');
    const path = `/v2/integrations/${integration}/usage?usageRequestId=${encodeURIComponent(label)}`;
    const [record] = (await this.#rig.api().get(path)).body.items;
    const byModel: Record<string, number[]> = {};
    for (const { model, input_tokens: input, output_tokens: output } of record.byModel)
      byModel[model] = [input, output];
    const sum = (at: number) => Object.values(byModel).reduce((total, tokens) => total + (tokens[at] ?? 0), 0);
    expectEqual('tokens of all models', [sum(0), sum(1)], [ending.usage.input_tokens, ending.usage.output_tokens]);
    const texts = ending.new_messages.filter((item: { role?: string }) => item.role === 'assistant');
    return { ending, byModel, texts: texts.length, answer: reader.answer };
  }
}

/** The next model answers once, and both are charged as they reported. */
async function checkUnavailable(stage: Stage, place: number, one: Case, run: Awaited<ReturnType<Stage['begin']>>) {
  const { ending, byModel, texts, answer } = await stage.end(run);
  const counts = [run.script.calls[place], run.script.calls[next(place)]];
  expectEqual('calls of the first and of the second model', counts, [one.calls, 1]);
  expectEqual('end', [ending.status, answer, texts], ['completed', 'Good day', 1]);
  expectEqual('tokens of the second model', byModel[MODELS[next(place)] ?? ''], [40, 6]);
  const { seesHead, reportsStart } = ADAPTERS[place] ?? { seesHead: true, reportsStart: false };
  const [input = 0, output = 0] = byModel[MODELS[place] ?? ''] ?? [];
  const begins = one.begins === true && (seesHead || one.startTokens !== undefined);
  if (begins && reportsStart && one.startTokens !== undefined) {
    expectEqual('tokens of the first model', input, one.startTokens * one.calls);
  } else if (begins) expectAtLeast('tokens of the first model', input, 1);
  else expectEqual('tokens of the first model', input, 0);
  expectEqual('output of the first model', output, 0);
}

/** The loop stays with the model that answered; the next run begins with the first model again. */
async function checkLoop(stage: Stage): Promise<void> {
  const busy: Play = ['answer', '529', '{LEAK}', '0'];
  const chat = { chatId: 'stays' };
  const calls: readonly Play[] = [
    ['stream', 'call'],
    ['stream', 'whole'],
  ];
  const run = await stage.begin(
    'from-openai',
    'the loop stays',
    [
      [0, [busy]],
      [1, calls],
    ],
    chat,
  );
  const { ending, answer } = await stage.end(run);
  expectEqual('the loop stays: end', [ending.status, answer], ['completed', 'Good day']);
  expectEqual('the loop stays: calls', run.script.calls.slice(0, 2), [3, 2]);
  const later = await stage.begin('from-openai', 'the next run', [], chat);
  await stage.end(later);
  expectEqual('the next run: calls', later.script.calls.slice(0, 2), [1, 0]);
}

/** Each model of a chain is asked once; the last one's failure is that of the run. */
async function checkChain(stage: Stage): Promise<void> {
  const bad: readonly Play[] = [['answer', '400', '{LEAK}']];
  const all = MODELS.map((_, place) => [place, bad] as const);
  const lost = await stage.begin('chain', 'all refuse', all);
  const { ending } = await stage.end(lost);
  expectEqual(
    'all refuse',
    [ending.status, ending.error.code, lost.script.calls],
    ['failed', 'model_error', [1, 1, 1, 1]],
  );
  const saved = await stage.begin('chain', 'the last one answers', all.slice(0, 3));
  const { answer } = await stage.end(saved);
  expectEqual('the last one answers', [answer, saved.script.calls], ['Good day', [1, 1, 1, 1]]);
  const away = await stage.begin('away', 'the first model is not reachable', []);
  const { byModel } = await stage.end(away);
  expectEqual(
    'the first model is not reachable',
    [byModel[MODELS[0] ?? ''], byModel['ollama/first'] ?? [0, 0]],
    [
      [40, 6],
      [0, 0],
    ],
  );
}

test('a fallback answers once, and both models are charged as reported', async () => {
  const fault = plantedFault();
  await using stack = new AsyncDisposableStack();
  const stage = new Stage();
  await stage.start(stack, fault);
  const runs = [];
  const saidRuns = [];
  for (const [place, { name }] of ADAPTERS.entries()) {
    const integration = `from-${PROVIDERS[place]}`;
    for (const [how, one] of Object.entries(said)) {
      saidRuns.push({ place, one, run: await stage.begin(integration, `${name} ${how}`, [[place, [one.play]]]) });
    }
    for (const [how, one] of Object.entries(unavailable)) {
      runs.push({ place, one, run: await stage.begin(integration, `${name} ${how}`, [[place, [one.play]]]) });
    }
  }
  for (const { place, one, run } of saidRuns) {
    const { ending, answer } = await stage.end(run);
    expectEqual(`${run.label}: calls of the second model`, run.script.calls[next(place)] ?? 0, 0);
    expectEqual(`${run.label}: end`, [ending.status, answer], ['failed', one.answer]);
  }
  for (const { place, one, run } of runs) await named(run.label, checkUnavailable(stage, place, one, run));
  await checkLoop(stage);
  await checkChain(stage);
  count({ adapters: ADAPTERS.length, unavailable: runs.length, said: saidRuns.length });
});
