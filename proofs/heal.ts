import { GateKeeper, ModelController, type ModelRequest } from '@runwire/test-kit';
import { DataFolder } from './support/data-folder.ts';
import { refusedByOpenAi } from './support/openai-rules.ts';
import { expectEqual, expectNumber, type Proof, Shortfall, within } from './support/proof.ts';
import { startServer } from './support/start-server.ts';
import { FRAMES, nextCall, type PlayedRun, playUntil, type Stage, WAIT_MS } from './support/three-step-run.ts';

const INTEGRATION = 'heal';
const PATH = `/v2/integrations/${INTEGRATION}`;
/** At once: two processes keep two cores busy. */
const LANES = 2;
/** Every event, or in the short form some, among them places where one call is open, where two are, and where none is. */
const SHORT = { cuts: [1, 5, 13, 21, 22, 27, 37, 43, 50], kills: [5, 21, 22, 39], lastKills: [22] };
/** In full, every so many events a kill is the last that the run may survive. */
const LAST_KILL_STRIDE = 5;

/** A run that was killed goes on, and one that was killed too often ends there. */
type Kill = 'kill' | 'last kill';
type Cut = 'cancel' | 'fail' | Kill;

async function makeIntegration(stage: Stage): Promise<void> {
  const body = { apiIntegrationId: INTEGRATION, name: 'Heal', agency: 'gate' };
  expectNumber('status of the integration', (await stage.api.post('/v2/integrations', body)).status, 201);
}

/** Texts that the chat's first turn shows the model again. */
const textOf = (prompt: ModelRequest['prompt']) =>
  prompt.map((item) => (item.kind === 'assistant' ? item.text : '')).join('');

const outputsSeen = (run: PlayedRun) =>
  run.reader.frames
    .filter(({ data }) => data.includes('"name":"tool_output"'))
    .map(({ data }) => JSON.parse(data).data.item.output);

/** Asks again in the same chat, of a model that refuses what OpenAI refuses. */
async function nextTurn(stage: Stage, chatId: string, run: PlayedRun, cut: Cut): Promise<void> {
  const reader = await stage.api.complete({ apiIntegrationId: INTEGRATION, chatId, message: 'Next' });
  expectNumber('status of the next turn', reader.status, 200);
  const call = await nextCall(stage.model, String(reader.headers['x-run-id']));
  const { prompt } = call.request;
  const refused = refusedByOpenAi(prompt);
  if (refused !== null) await call.fail('model_error', refused);
  else {
    await call.text('Fine.');
    await call.end();
  }
  await within('end of the next turn', WAIT_MS, reader.over);
  expectEqual('what OpenAI says to the next turn', refused, null);
  const { status } = JSON.parse(reader.frames.find(({ event }) => event === 'messages')?.data ?? '{}');
  expectEqual('end of the next turn', [status, reader.answer], ['completed', 'Fine.']);
  expectEqual(
    'first and last message',
    [prompt[0], prompt.at(-1)],
    [
      { kind: 'user', text: 'Go' },
      { kind: 'user', text: 'Next' },
    ],
  );
  // What the client saw is what the model is shown again; of a killed server, as far as it was stored.
  const seen = run.reader.answer;
  if (cut === 'kill') {
    const { body } = await stage.api.get(`${PATH}/runs/${run.runId}`);
    expectEqual('end of the run that was killed', body.status, 'completed');
    expectEqual('text of the first turn', textOf(prompt), body.message);
    return;
  }
  if (cut === 'last kill') {
    expectEqual('text of the first turn is what the client saw', seen.startsWith(textOf(prompt)), true);
    return;
  }
  expectEqual('text of the first turn', textOf(prompt), seen);
  const shown = prompt.flatMap((item) => (item.kind === 'tool_output' ? [item.output] : []));
  for (const output of outputsSeen(run)) expectEqual(`output ${output} is shown`, shown.includes(output), true);
}

async function cutRun(stage: Stage, chatId: string, cut: Exclude<Cut, 'kill'>, index: number): Promise<void> {
  const run = await playUntil(stage, chatId, index);
  // The last frames come together, with the end of the run: nothing is left to cut.
  const ended = index > 43;
  if (cut === 'cancel') {
    const { status, body } = await stage.api.post(`${PATH}/runs/${run.runId}/cancel`);
    expectEqual('cancel', [status, body.status], [200, ended ? 'completed' : 'cancelled']);
  } else if (!ended) await within('failure', WAIT_MS, run.fail());
  await within('end of the first turn', WAIT_MS, run.reader.over);
  const { status } = JSON.parse(run.reader.frames.find(({ event }) => event === 'messages')?.data ?? '{}');
  expectEqual('first turn', status, ended ? 'completed' : cut === 'cancel' ? 'cancelled' : 'failed');
  if (ended) expectNumber('frames of a whole run', run.reader.frames.length, FRAMES);
  await nextTurn(stage, chatId, run, cut);
}

async function killRun(fault: string | null, kill: Kill, index: number): Promise<void> {
  using folder = new DataFolder();
  await using model = await ModelController.start();
  await using gate = await GateKeeper.start();
  const options = { dataDir: folder.path, controllerPort: model.port };
  let run: PlayedRun;
  {
    await using doomed = await startServer(null, options);
    const stage = { api: doomed.api, model, gate, integration: INTEGRATION };
    await makeIntegration(stage);
    run = await playUntil(stage, 'c1', index);
    await doomed.kill();
    await within('end of the cut stream', WAIT_MS, run.reader.over);
  }
  const limits = kill === 'kill' ? {} : { maxAttempts: 1 };
  await using server = await startServer(fault, { ...options, limits });
  const stage = { api: server.api, model, gate, integration: INTEGRATION };
  if (kill === 'kill') await finishRun(stage, run);
  await nextTurn(stage, 'c1', run, kill);
}

/** The run goes on by itself; the model, asked again, has what OpenAI takes, and says its last word. */
async function finishRun(stage: Stage, { runId }: PlayedRun): Promise<void> {
  const { body } = await stage.api.get(`${PATH}/runs/${runId}`);
  if (body.status === 'completed') return;
  expectNumber('attempts of the run once the server listens', body.attempt, 2);
  const reader = await stage.api.events(runId, null, INTEGRATION);
  for (;;) {
    const call = await nextCall(stage.model, runId);
    if (call.request.attempt === 1) continue;
    expectEqual('what OpenAI says to the run that goes on', refusedByOpenAi(call.request.prompt), null);
    await call.text('Done.');
    await call.end();
    await within('end of the run that goes on', WAIT_MS, reader.over);
    return;
  }
}

async function named(label: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    throw error instanceof Shortfall ? new Shortfall(`${label}: ${error.message}`) : error;
  }
}

async function killAll(fault: string | null, kills: readonly (readonly [Kill, number])[]): Promise<void> {
  const queue = [...kills];
  let failed = false;
  const lane = async () => {
    for (let next = queue.shift(); next !== undefined && !failed; next = queue.shift()) {
      const [kill, at] = next;
      await named(`${kill} at event ${at}`, () => killRun(fault, kill, at)).catch((error) => {
        failed = true;
        throw error;
      });
    }
  };
  // All lanes come to rest before the first shortfall is told, so that no process is left behind.
  const lanes = await Promise.allSettled(Array.from({ length: fault === null ? LANES : 1 }, lane));
  for (const outcome of lanes) if (outcome.status === 'rejected') throw outcome.reason;
}

async function cutAll(fault: string | null, indexes: readonly number[]): Promise<void> {
  using folder = new DataFolder();
  await using model = await ModelController.start();
  await using gate = await GateKeeper.start();
  await using server = await startServer(fault, { dataDir: folder.path, controllerPort: model.port });
  const stage = { api: server.api, model, gate, integration: INTEGRATION };
  await makeIntegration(stage);
  for (const index of indexes) {
    for (const cut of ['cancel', 'fail'] as const) {
      await named(`${cut} at event ${index}`, () => cutRun(stage, `${cut}-${index}`, cut, index));
    }
  }
}

export const proof: Proof = {
  name: 'heal',
  minutes: 2,
  faults: {
    'open-calls':
      /^cancel at event 21: what OpenAI says .*No tool output found for function call cancel-21-a, cancel-21-b/m,
  },
  figures: (scale) => ({ events: 50, cancelled: scale(9, 50), failed: scale(9, 50), killed: scale(4, 50) }),
  async run({ fault, scale }) {
    const short = scale(true, false);
    const every = Array.from({ length: FRAMES }, (_, place) => place + 1);
    const cuts = short ? SHORT.cuts : every;
    const kills = short ? SHORT.kills : every;
    await cutAll(fault, cuts);
    process.stdout.write(`cancelled and failed at ${cuts.length} of ${FRAMES} events\n`);
    const lastKills = short ? SHORT.lastKills : every.filter((index) => index % LAST_KILL_STRIDE === 0);
    const lasts = lastKills.map((index) => ['last kill', index] as const);
    await killAll(fault, [...lasts, ...kills.map((index) => ['kill', index] as const)]);
    process.stdout.write(`killed at ${kills.length} of ${FRAMES} events, for the last time at ${lasts.length}\n`);
    const counts = { cancelled: cuts.length, failed: cuts.length, killed: kills.length, interrupted: lasts.length };
    return { events: FRAMES, ...counts };
  },
};
