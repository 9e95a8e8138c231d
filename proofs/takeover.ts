import { setTimeout as sleep } from 'node:timers/promises';
import { type ApiClient, ModelController, type NodeGroup, SCRIPTED_USAGE, ToolController } from '@runwire/test-kit';
import { expectAtLeast, expectAtMost, expectEqual, expectNumber, type Proof, within } from './support/proof.ts';
import { reattach } from './support/reattaching-reader.ts';
import {
  answer,
  type Body,
  checkReader,
  checkTools,
  checkUsage,
  type Frames,
  MODEL_STEPS,
  repeatedCalls,
  STEPS,
} from './support/resumed-run.ts';
import { SHORT_LEASE, startNodes } from './support/start-nodes.ts';
import { type PlayedRun, playUntil, WAIT_MS } from './support/three-step-run.ts';

/*
 * Three nodes share a database. One of them runs many runs of three answers of the model with three calls of tools,
 * each held at another place, when it dies by SIGKILL. Model and tools are served, and their calls counted, in this
 * process. Whoever read a run there goes on reading at the other two. The first that dies stores nothing but finished
 * steps; a new node takes its place, and the next one dies with half of a step stored.
 */

const INTEGRATION = 'takeover';
const PATH = `/v2/integrations/${INTEGRATION}`;
const CONSUMER = 'member-1';
const RUNS = 50;
const SHORT_RUNS = 6;
/** Where the runs are held: in an answer of the model, between two calls of tools, behind a finished step. */
const HELD_AT = [5, 22, 27, 21, 37, 42, 2, 17, 34, 43];
const TAKEN_WITHIN_MS = 15_000;
/** Where tests run, machines are busy. */
const SHORT_SLACK = 3;
const NEVER_MS = 3_600_000;
const TOOL = 'gate_again';
const TOKENS = MODEL_STEPS.length * (SCRIPTED_USAGE.inputTokens + SCRIPTED_USAGE.outputTokens);

interface Held extends PlayedRun {
  readonly chatId: string;
  /** The last event of it that is in the database. */
  readonly storedId: number;
}

interface Scene {
  readonly group: NodeGroup;
  readonly model: ModelController;
  readonly gate: ToolController;
  readonly count: number;
}

interface Followed {
  readonly rest: Frames | null;
  readonly endedMs: number;
}

async function prepare(api: ApiClient): Promise<void> {
  const allowances = { unit: 'tokens', limit: 1_000_000, period: 'lifetime' };
  const body = { apiIntegrationId: INTEGRATION, name: 'Takeover', agency: 'gate', allowances };
  expectNumber('status of the integration', (await api.post('/v2/integrations', body)).status, 201);
  expectNumber('status of the member', (await api.put(`${PATH}/members/${CONSUMER}`, {})).status, 201);
}

/** Model and tools go on with whatever they are asked, of whichever run. */
function answerAll(model: ModelController, gate: ToolController, chats: ReadonlyMap<string, string>): void {
  model.onCall = (call) => void answer(call, chats.get(call.request.runId) ?? '', TOOL, gate.port);
  gate.onCall = ({ callId }) => gate.open(callId, `anew ${callId}`);
}

/** Where more than finished steps is stored, all that the reader has seen is. */
async function storedId(group: NodeGroup, { runId, reader }: PlayedRun, onlySteps: boolean): Promise<number> {
  const seen = reader.frames.at(-1)?.id ?? 0;
  const stored = async (): Promise<number> => {
    const [row] = await group.query(
      `select coalesce(max(last_id), 0) as id from event_chunks where run_id = '${runId}'`,
    );
    return Number(row?.id);
  };
  const untilStored = async () => {
    while ((await stored()) < seen) await sleep(20);
  };
  if (!onlySteps) await within('storing of what was seen', WAIT_MS, untilStored());
  return await stored();
}

async function holdRuns({ group, model, gate, count }: Scene, doomed: number, onlySteps: boolean): Promise<Held[]> {
  const { api } = group.node(doomed);
  const stage = { api, model, gate, integration: INTEGRATION, tool: TOOL, consumerId: CONSUMER } as const;
  const held: PlayedRun[] = [];
  const chatOf = (place: number) => `chat-${doomed}-${place}`;
  for (let place = 0; place < count; place += 1) {
    held.push(await playUntil(stage, chatOf(place), HELD_AT[place % HELD_AT.length] ?? 2));
  }
  return await Promise.all(
    held.map(async (run, place) => {
      return { ...run, chatId: chatOf(place), storedId: await storedId(group, run, onlySteps) };
    }),
  );
}

/** Resolves to the time in which as many such runs complete on a node that lives. */
async function ownTime(api: ApiClient, model: ModelController, gate: ToolController, count: number): Promise<number> {
  const startedAt = performance.now();
  model.onCall = (call) => void answer(call, call.request.runId, TOOL, gate.port);
  gate.onCall = ({ callId }) => gate.open(callId, 'own');
  const runs = Array.from({ length: count }, async (_, place) => {
    const usageRequestId = `own-${place}`;
    const reader = await api.complete({ apiIntegrationId: INTEGRATION, consumerId: CONSUMER, usageRequestId });
    await reader.over;
    expectEqual('last frame of an undisturbed run', reader.frames.at(-1)?.event, 'end');
  });
  await within('runs of a living node', WAIT_MS, Promise.all(runs));
  model.onCall = null;
  gate.onCall = null;
  return performance.now() - startedAt;
}

async function checkRun(api: ApiClient, run: Held, rest: Frames, { model, gate }: Scene, onlySteps: boolean) {
  const { body: ended } = await api.get(`${PATH}/runs/${run.runId}`);
  expectEqual('end of the run', [ended.status, ended.error, ended.attempt], ['completed', null, 2]);
  const steps: Body[] = (await api.get(`${PATH}/runs/${run.runId}/steps`)).body.items;
  const repeated = expectNumber('calls of finished steps repeated', repeatedCalls(run.runId, steps, model, gate), 0);
  expectEqual('steps', steps.map(({ step, kind }) => `${step} ${kind}`).toReversed(), STEPS);
  checkTools(gate, run.chatId, TOOL);
  const replay = await api.events(run.runId, null, INTEGRATION);
  await within('end of the replay', WAIT_MS, replay.over);
  const voidFrames = checkReader(run.reader.frames, rest, replay.frames);
  expectEqual('text of the deltas', replay.answer, ended.message);
  const resumed = replay.frames.find(({ event }) => event === 'resumed');
  const { discard_after: kept } = JSON.parse(resumed?.data ?? '{"discard_after":0}') as { discard_after: number };
  return {
    repeated,
    voidFrames,
    storedVoid: Math.max(0, run.storedId - kept),
    exact: checkUsage(ended, steps, model, onlySteps) ? 1 : 0,
    tokens: Number(ended.usage.total_tokens),
  };
}

interface Round {
  readonly doomed: number;
  /** Whether nothing but finished steps is stored of the runs of the node that dies. */
  readonly onlySteps: boolean;
  readonly endWithinMs: number;
}

/** Kills the node under its runs; resolves to what became of them on the other two. */
async function killOne(scene: Scene, { doomed, onlySteps, endWithinMs }: Round) {
  const { group, model, gate, count } = scene;
  const held = await holdRuns(scene, doomed, onlySteps);
  answerAll(model, gate, new Map(held.map(({ runId, chatId }) => [runId, chatId])));
  const others = group.nodes.slice(doomed + 1).map(({ api }) => api);
  const killedAt = performance.now();
  await group.node(doomed).kill();
  const follow = async (run: Held, place: number): Promise<Followed> => {
    // Each comes back at another node first.
    const nodes = place % 2 === 0 ? others : others.toReversed();
    const rest = await reattach(run.reader, run.runId, INTEGRATION, nodes, endWithinMs);
    return { rest, endedMs: performance.now() - killedAt };
  };
  const followed = await Promise.all(held.map(follow));
  const completed = followed.filter(({ rest }) => rest !== null).length;
  expectNumber(`runs completed elsewhere within ${endWithinMs} ms`, completed, count);
  const sum = { repeated: 0, voidFrames: 0, storedVoid: 0, exact: 0, tokens: 0 };
  for (const [place, run] of held.entries()) {
    const found = await checkRun(others.at(-1) as ApiClient, run, followed[place]?.rest ?? [], scene, onlySteps);
    for (const key of Object.keys(sum) as (keyof typeof sum)[]) sum[key] += found[key];
  }
  expectAtLeast('void frames', sum.voidFrames, 1);
  const slowestMs = Math.round(Math.max(...followed.map(({ endedMs }) => endedMs)));
  expectAtMost('ms to the last end', slowestMs, endWithinMs);
  model.onCall = null;
  gate.onCall = null;
  return { ...sum, completed, slowestMs };
}

async function checkAllowance(api: ApiClient, used: number): Promise<void> {
  const { body: member } = await api.get(`${PATH}/members/${CONSUMER}`);
  expectEqual('allowance', [member.allowance.used, member.allowance.reserved], [used, 0]);
}

export const proof: Proof = {
  name: 'takeover',
  minutes: 1.2,
  faults: {
    'leave-orphans': /^runs completed elsewhere within \d+ ms: expected \d+, found 0\.$/m,
  },
  async run({ fault, scale }) {
    const short = scale(true, false);
    const count = short ? SHORT_RUNS : RUNS;
    const patienceMs = TAKEN_WITHIN_MS * (short ? SHORT_SLACK : 1);
    const takenWithinMs = short && fault !== null ? 2 * SHORT_LEASE.leaseMs : patienceMs;
    await using model = await ModelController.start();
    await using gate = await ToolController.start();
    const limits = short ? SHORT_LEASE : {};
    await using group = await startNodes(3, fault, { controllerPort: model.port, limits }, (place) =>
      place === 0 ? { limits: { ...limits, flushMs: NEVER_MS } } : {},
    );
    const scene = { group, model, gate, count };
    await prepare(group.node(0).api);
    const ownMs = await ownTime(group.node(1).api, model, gate, count);
    const endWithinMs = Math.round(takenWithinMs + ownMs);

    const whole = await killOne(scene, { doomed: 0, onlySteps: true, endWithinMs });
    expectNumber('tokens of the runs of the first node', whole.tokens, count * TOKENS);
    const ownTokens = count * TOKENS;
    await checkAllowance(group.node(2).api, ownTokens + whole.tokens);

    await group.add();
    const half = await killOne(scene, { doomed: 1, onlySteps: false, endWithinMs });
    expectAtLeast('stored frames made void', half.storedVoid, 1);
    await checkAllowance(group.node(2).api, ownTokens + whole.tokens + half.tokens);
    return {
      kills: 2,
      runs: 2 * count,
      completed: whole.completed + half.completed,
      repeated: whole.repeated + half.repeated,
      void_frames: whole.voidFrames + half.voidFrames,
      stored_void: half.storedVoid,
      exact_usage: whole.exact + half.exact,
      tokens: whole.tokens,
      last_end_ms: Math.max(whole.slowestMs, half.slowestMs),
      own_ms: Math.round(ownMs),
    };
  },
};
