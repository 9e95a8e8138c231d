import { type ApiClient, GateKeeper, ModelController, type NodeGroup, SCRIPTED_USAGE } from '@runwire/server/testing';
import { expectAtLeast, expectAtMost, expectEqual, expectNumber, type Proof, within } from './support/proof.ts';
import { reattach } from './support/reattaching-reader.ts';
import {
  answer,
  type Body,
  checkReader,
  checkTools,
  type Frames,
  MODEL_STEPS,
  repeatedCalls,
  STEPS,
} from './support/resumed-run.ts';
import { startNodes } from './support/start-nodes.ts';
import { type PlayedRun, playUntil, WAIT_MS } from './support/three-step-run.ts';

/*
 * Three nodes share a database. One of them runs many runs of three answers of the model with three calls of tools,
 * each held at another place, when it dies by SIGKILL. Model and tools are served, and their calls counted, in this
 * process. Whoever read a run there goes on reading at the other two.
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

interface Held extends PlayedRun {
  readonly chatId: string;
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
function answerAll(model: ModelController, gate: GateKeeper, chats: ReadonlyMap<string, string>): void {
  model.onCall = (call) => void answer(call, chats.get(call.request.runId) ?? '', TOOL, gate.port);
  gate.onCall = ({ callId }) => gate.open(callId, `anew ${callId}`);
}

async function holdRuns(group: NodeGroup, model: ModelController, gate: GateKeeper, count: number): Promise<Held[]> {
  const { api } = group.node(0);
  const stage = { api, model, gate, integration: INTEGRATION, tool: TOOL, consumerId: CONSUMER } as const;
  const held: Held[] = [];
  for (let place = 0; place < count; place += 1) {
    const chatId = `chat-${place}`;
    held.push({ ...(await playUntil(stage, chatId, HELD_AT[place % HELD_AT.length] ?? 2)), chatId });
  }
  return held;
}

/** Resolves to the time in which as many such runs complete on a node that lives. */
async function ownTime(api: ApiClient, model: ModelController, gate: GateKeeper, count: number): Promise<number> {
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

async function checkRun(api: ApiClient, run: Held, rest: Frames, model: ModelController, gate: GateKeeper) {
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
  // Of the node that died nothing but finished steps is stored: what was used is known to the token.
  const tokens = MODEL_STEPS.length * (SCRIPTED_USAGE.inputTokens + SCRIPTED_USAGE.outputTokens);
  expectEqual('usage', [ended.usage.request_count, ended.usage.total_tokens], [MODEL_STEPS.length, tokens]);
  return { repeated, voidFrames, tokens };
}

export const proof: Proof = {
  name: 'takeover',
  faults: ['forget-journal', 'leave-orphans'],
  async run({ fault, short }) {
    const count = short ? SHORT_RUNS : RUNS;
    const takenWithinMs = TAKEN_WITHIN_MS * (short && fault === null ? SHORT_SLACK : 1);
    await using model = await ModelController.start();
    await using gate = await GateKeeper.start();
    await using group = await startNodes(3, { controllerPort: model.port }, (place) =>
      place === 0 ? { limits: { flushMs: NEVER_MS } } : fault === null ? {} : { fault },
    );
    const [first, ...others] = group.nodes.map(({ api }) => api) as [ApiClient, ...ApiClient[]];
    await prepare(first);
    const ownMs = await ownTime(others[0] as ApiClient, model, gate, count);
    const endWithinMs = Math.round(takenWithinMs + ownMs);
    const held = await holdRuns(group, model, gate, count);
    answerAll(model, gate, new Map(held.map(({ runId, chatId }) => [runId, chatId])));
    const killedAt = performance.now();
    await group.node(0).kill();
    const follow = async (run: Held, place: number): Promise<Followed> => {
      // Each comes back at another node first.
      const nodes = place % 2 === 0 ? others : others.toReversed();
      const rest = await reattach(run.reader, run.runId, INTEGRATION, nodes, endWithinMs);
      return { rest, endedMs: performance.now() - killedAt };
    };
    const followed = await Promise.all(held.map(follow));
    const completed = followed.filter(({ rest }) => rest !== null).length;
    expectNumber(`runs completed elsewhere within ${endWithinMs} ms`, completed, count);
    const last = others.at(-1) as ApiClient;
    let [repeated, voidFrames, tokens] = [0, 0, 0];
    for (const [place, run] of held.entries()) {
      const found = await checkRun(last, run, followed[place]?.rest ?? [], model, gate);
      repeated += found.repeated;
      voidFrames += found.voidFrames;
      tokens += found.tokens;
    }
    const { body: member } = await last.get(`${PATH}/members/${CONSUMER}`);
    // As many undisturbed ones before.
    expectEqual('allowance', [member.allowance.used, member.allowance.reserved], [2 * tokens, 0]);
    expectAtLeast('void frames', voidFrames, 1);
    const slowestMs = Math.round(Math.max(...followed.map(({ endedMs }) => endedMs)));
    expectAtMost('ms to the last end', slowestMs, endWithinMs);
    return {
      runs: count,
      completed,
      repeated,
      void_frames: voidFrames,
      tokens,
      last_end_ms: slowestMs,
      own_ms: Math.round(ownMs),
    };
  },
};
