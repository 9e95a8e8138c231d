import { type ApiClient, type FollowedRun, follow, SCRIPTED_USAGE } from '@runwire/test-kit';
import {
  addTo,
  expectAtLeast,
  expectAtMost,
  expectEqual,
  expectNumber,
  type Proof,
  until,
  WAIT_MS,
  within,
} from './support/proof.ts';
import { answer, checkTools, checkUsage, MODEL_STEPS, repeatedCalls, STEPS } from './support/resumed-run.ts';
import { Rig, SHORT_LEASE } from './support/rig.ts';
import { type Body, checkStory, expectAllowance, validFrames } from './support/story.ts';
import { type PlayedRun, playUntil } from './support/three-step-run.ts';

/*
 * Three nodes share a database. One of them has many runs of three model answers and three tool calls, each held at another
 * place, when it dies by SIGKILL. The readers continue on the other two. The first node that dies has stored only finished
 * steps; a new node replaces it, and the next one dies with half of a step stored.
 */

const INTEGRATION = 'takeover';
const PATH = `/v2/integrations/${INTEGRATION}`;
const CONSUMER = 'member-1';
/** The frames at which the runs are held: in a model answer, between two tool calls, after a finished step. */
const HELD_AT = [5, 22, 27, 21, 37, 42, 2, 17, 34, 43];
const TOOL = 'gate_again';
const TOKENS = MODEL_STEPS.length * (SCRIPTED_USAGE.inputTokens + SCRIPTED_USAGE.outputTokens);

interface HeldRun extends PlayedRun {
  readonly chatId: string;
  /** The last event that is in the database. */
  readonly storedId: number;
}

interface Kill {
  /** The number of the node that dies; the nodes after it live. */
  readonly doomed: number;
  readonly count: number;
  /** True if nothing but finished steps is stored of the runs. */
  readonly onlySteps: boolean;
  readonly endWithinMs: number;
}

/** Model and tools answer every call, of any run. */
function answerAll({ model, gate }: Rig, chatOf: (runId: string) => string): void {
  model.onCall = (call) => void answer(call, chatOf(call.request.runId), TOOL, gate.port);
  gate.onCall = ({ callId }) => gate.open(callId, `anew ${callId}`);
}

function holdAll({ model, gate }: Rig): void {
  model.onCall = null;
  gate.onCall = null;
}

async function hold(rig: Rig, chatId: string, frames: number, { doomed, onlySteps }: Kill): Promise<HeldRun> {
  const { model, gate } = rig;
  const stage = {
    api: rig.api(doomed),
    model,
    gate,
    integration: INTEGRATION,
    tool: TOOL,
    consumerId: CONSUMER,
  } as const;
  const run = await playUntil(stage, chatId, frames);
  const stored = async (): Promise<number> => {
    const last = 'select coalesce(max(last_id), 0) as id from event_chunks where run_id = $1';
    return Number((await rig.query(last, [run.runId]))[0]?.id);
  };
  const seen = run.reader.frames.at(-1)?.id ?? 0;
  if (!onlySteps) await until('storing of what was seen', async () => (await stored()) >= seen, { pauseMs: 20 });
  return { ...run, chatId, storedId: await stored() };
}

/** The time that so many runs take on a living node. */
async function ownTime(rig: Rig, count: number): Promise<number> {
  const startedAt = performance.now();
  answerAll(rig, (runId) => runId);
  const runs = Array.from({ length: count }, async (_, place) => {
    const body = { apiIntegrationId: INTEGRATION, consumerId: CONSUMER, usageRequestId: `own-${place}` };
    const reader = await rig.api(1).complete(body);
    await reader.over;
    expectEqual('last frame of an undisturbed run', reader.frames.at(-1)?.event, 'end');
  });
  await within('runs of a living node', WAIT_MS, Promise.all(runs));
  holdAll(rig);
  return performance.now() - startedAt;
}

async function checkRun(
  api: ApiClient,
  run: HeldRun,
  { frames }: FollowedRun,
  { model, gate }: Rig,
  onlySteps: boolean,
) {
  const story = { integration: INTEGRATION, runId: run.runId, model, seen: frames };
  const { run: ended, stream } = await checkStory(api, story);
  expectEqual('end of the run', [ended.status, ended.error, ended.attempt], ['completed', null, 2]);
  const steps: Body[] = (await api.get(`${PATH}/runs/${run.runId}/steps`)).body.items;
  const names = steps.map(({ step, kind }) => `${step} ${kind}`);
  expectEqual('steps', names.toReversed(), STEPS);
  const repeated = expectNumber('calls of finished steps repeated', repeatedCalls(run.runId, steps, model, gate), 0);
  checkTools(gate, run.chatId, TOOL);
  expectEqual('what a reader put together', validFrames(frames), stream.frames);
  const resumed = stream.frames.find(({ event }) => event === 'resumed');
  const { discard_after: kept } = JSON.parse(resumed?.data ?? '{"discard_after":0}') as { discard_after: number };
  return {
    repeated,
    void_frames: frames.length - stream.frames.length,
    stored_void: Math.max(0, run.storedId - kept),
    exact_usage: Number(checkUsage(ended, steps, model, onlySteps)),
    tokens: Number(ended.usage.total_tokens),
  };
}

/** Kills the node under its runs; resolves to what became of them on the others. */
async function killOne(rig: Rig, kill: Kill) {
  const { doomed, count, endWithinMs } = kill;
  const held: HeldRun[] = [];
  for (let place = 0; place < count; place += 1) {
    held.push(await hold(rig, `chat-${doomed}-${place}`, HELD_AT[place % HELD_AT.length] ?? 2, kill));
  }
  const chats = new Map(held.map(({ runId, chatId }) => [runId, chatId]));
  answerAll(rig, (runId) => chats.get(runId) ?? '');
  const others = rig.servers.slice(doomed + 1).map(({ api }) => api);
  const killedAt = performance.now();
  await rig.server(doomed).kill();
  const late = AbortSignal.timeout(endWithinMs);
  let slowestMs = 0;
  const followed = held.map(async ({ reader }, place) => {
    // Each reader reconnects to another node first.
    const nodes = () => (place % 2 === 0 ? others : others.toReversed());
    const read = await within('end of a run', endWithinMs, follow(reader, nodes, INTEGRATION, late)).catch(() => null);
    slowestMs = Math.max(slowestMs, Math.round(performance.now() - killedAt));
    return read;
  });
  const read = (await Promise.all(followed)).filter((one) => one !== null);
  expectNumber(`runs completed elsewhere within ${endWithinMs} ms`, read.length, count);
  const sum = { completed: read.length, repeated: 0, void_frames: 0, stored_void: 0, exact_usage: 0, tokens: 0 };
  for (const [place, run] of held.entries()) {
    addTo(sum, await checkRun(others.at(-1) as ApiClient, run, read[place] as FollowedRun, rig, kill.onlySteps));
  }
  expectAtLeast('void frames', sum.void_frames, 1);
  holdAll(rig);
  return { ...sum, slowestMs: expectAtMost('ms to the last end', slowestMs, endWithinMs) };
}

export const proof: Proof = {
  name: 'takeover',
  minutes: 1.2,
  faults: { 'leave-orphans': /^runs completed elsewhere within \d+ ms: expected \d+, found 0\.$/m },
  async run({ fault, scale }) {
    const count = scale(6, 50);
    // The promise is 15 s. A busy machine gets three times as long; the fault needs no slack to show.
    const takenWithinMs = fault === null ? scale(45_000, 15_000) : 2 * SHORT_LEASE.leaseMs;
    const limits = scale<object>(SHORT_LEASE, {});
    const each = (place: number) => (place === 0 ? { limits: { ...limits, flushMs: 3_600_000 } } : {});
    await using rig = await Rig.start({ nodes: 3, fault, limits, each });
    const allowances = { unit: 'tokens', limit: 1_000_000, period: 'lifetime' };
    await rig.prepare({ apiIntegrationId: INTEGRATION, agency: 'gate', allowances }, CONSUMER);
    const ownMs = await ownTime(rig, count);
    const endWithinMs = Math.round(takenWithinMs + ownMs);
    const checkUsed = (tokens: number) =>
      expectAllowance(rig.api(2), `${PATH}/members/${CONSUMER}`, count * TOKENS + tokens);

    const first = await killOne(rig, { doomed: 0, count, onlySteps: true, endWithinMs });
    expectNumber('tokens of the runs of the first node', first.tokens, count * TOKENS);
    await checkUsed(first.tokens);
    await rig.add();
    const second = await killOne(rig, { doomed: 1, count, onlySteps: false, endWithinMs });
    expectAtLeast('stored frames made void', second.stored_void, 1);
    await checkUsed(first.tokens + second.tokens);
    return {
      kills: 2,
      runs: 2 * count,
      completed: first.completed + second.completed,
      repeated: first.repeated + second.repeated,
      void_frames: first.void_frames + second.void_frames,
      stored_void: second.stored_void,
      exact_usage: first.exact_usage + second.exact_usage,
      tokens: first.tokens,
      last_end_ms: Math.max(first.slowestMs, second.slowestMs),
      own_ms: Math.round(ownMs),
    };
  },
};
