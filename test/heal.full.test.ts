import { test } from 'node:test';
import { type ModelRequest, Rig } from '@runwire/test-kit';
import { count, plantedFault, scale } from '@runwire/test-kit/scale.ts';
import { expectEqual, WAIT_MS, within } from '@runwire/test-kit/shortfall.ts';
import { inLanes } from './support/lanes.ts';
import { ProviderJudges } from './support/provider-judges.ts';
import { whole } from './support/story.ts';
import { EVERY_FRAME, FRAMES, nextCall, type PlayedRun, playUntil } from './support/three-step-run.ts';

/** Events at which one call of a tool is open, two are open, and none is. */
const SHORT = { cuts: [1, 5, 13, 21, 22, 27, 37, 43, 50], kills: [5, 21, 22, 39], lastKills: [22] };
const FULL = { cuts: EVERY_FRAME, kills: EVERY_FRAME, lastKills: EVERY_FRAME.filter((index) => index % 5 === 0) };
/** From here on the frames arrive together with the run's end. */
const LAST_CUT = 43;
const INTEGRATION = { apiIntegrationId: 'heal', agency: 'gate' };

type Prompt = ModelRequest['prompt'];
/** After a `kill` the run continues; after a `last kill` it has no attempt left. */
type Cut = 'cancel' | 'fail' | 'kill' | 'last kill';

const toText = (prompt: Prompt) => prompt.map((item) => (item.kind === 'assistant' ? item.text : '')).join('');
const getEnd = ({ frames }: PlayedRun['reader']) =>
  JSON.parse(frames.find(({ event }) => event === 'messages')?.data ?? '{}').status;

/** Asks again in the same chat. Every adapter sends the prompt to a provider that refuses what the real provider refuses. */
async function nextTurn(
  rig: Rig,
  judges: ProviderJudges,
  { chatId, reader: first, runId }: PlayedRun,
  cut: Cut,
): Promise<void> {
  const api = rig.servers.at(-1)?.api ?? rig.api();
  const sent = await api.complete({ apiIntegrationId: rig.integration, chatId, message: 'Next' });
  const call = await nextCall(rig, String(sent.headers['x-run-id']));
  const { prompt } = call.request;
  expectEqual('refusals of the next turn', await judges.refusals(call.request), {});
  await call.text('Fine.');
  await call.end();
  const reader = await whole(Promise.resolve(sent));
  expectEqual('end of the next turn', [getEnd(reader), reader.answer], ['completed', 'Fine.']);
  const ends = ['Go', 'Next'].map((text) => ({ kind: 'user', text }));
  expectEqual('first and last message', [prompt[0], prompt.at(-1)], ends);
  // The model is shown what the client saw; of a killed server, as far as it was stored.
  if (cut === 'last kill') {
    expectEqual('text of the first turn is what the client saw', first.answer.startsWith(toText(prompt)), true);
  } else if (cut === 'kill') {
    const { body } = await api.get(`${rig.path}/runs/${runId}`);
    expectEqual('end and text of the killed run', ['completed', toText(prompt)], [body.status, body.message]);
  } else {
    expectEqual('text of the first turn', toText(prompt), first.answer);
    const shown = prompt.map((item) => (item.kind === 'tool_output' ? item.output : null));
    const outputs = first.frames.filter(({ data }) => data.includes('"name":"tool_output"'));
    const hidden = outputs.map(({ data }) => JSON.parse(data).data.item.output).filter((text) => !shown.includes(text));
    expectEqual('outputs that the model is not shown', hidden, []);
  }
}

async function cutRun(rig: Rig, judges: ProviderJudges, cut: Cut, index: number): Promise<void> {
  const run = await playUntil(rig, `${cut}-${index}`, index);
  const isOver = index > LAST_CUT;
  const end = isOver ? 'completed' : cut === 'cancel' ? 'cancelled' : 'failed';
  if (cut === 'cancel') {
    const { status, body } = await rig.api().post(`${rig.path}/runs/${run.runId}/cancel`);
    expectEqual('cancel', [status, body.status], [200, end]);
  } else if (!isOver) await within('failure', WAIT_MS, run.fail());
  await within('end of the first turn', WAIT_MS, run.reader.over);
  expectEqual('end of the first turn', getEnd(run.reader), end);
  if (isOver) expectEqual('frames of a whole run', run.reader.frames.length, FRAMES);
  await nextTurn(rig, judges, run, cut);
}

async function killRun(fault: string | null, judges: ProviderJudges, kill: Cut, index: number): Promise<void> {
  await using rig = await Rig.open();
  const doomed = await rig.add();
  await rig.prepare(INTEGRATION);
  const run = await playUntil(rig, 'c1', index);
  await doomed.kill();
  await within('end of the cut stream', WAIT_MS, run.reader.over);
  const { api } = await rig.add({ fault, limits: kill === 'kill' ? {} : { maxAttempts: 1 } });
  const { body } = await api.get(`${rig.path}/runs/${run.runId}`);
  if (kill === 'kill' && body.status !== 'completed') {
    // The run continues by itself; its model is asked again with a prompt that every provider accepts.
    expectEqual('attempts of the run after the start', body.attempt, 2);
    const reader = api.events(run.runId, null, rig.integration);
    let call = await nextCall(rig, run.runId);
    while (call.request.attempt === 1) call = await nextCall(rig, run.runId);
    expectEqual('refusals of the run that continues', await judges.refusals(call.request), {});
    await call.text('Done.');
    await call.end();
    await whole(reader);
  }
  await nextTurn(rig, judges, run, kill);
}

test('every provider accepts the next prompt of a chat that was cut', async () => {
  const fault = plantedFault();
  const { cuts, kills, lastKills } = scale(SHORT, FULL);
  const labelled = (cut: Cut, indexes: readonly number[]) =>
    indexes.map((index) => [`${cut} at event ${index}`, [cut, index] as const] as const);
  await using judges = await ProviderJudges.open();
  await using rig = await Rig.start({ fault });
  await rig.prepare(INTEGRATION);
  const both = [...labelled('cancel', cuts), ...labelled('fail', cuts)];
  await inLanes(1, both, ([cut, index]) => cutRun(rig, judges, cut, index));
  const all = [...labelled('last kill', lastKills), ...labelled('kill', kills)];
  // Two processes keep two cores busy.
  await inLanes(fault === null ? 2 : 1, all, ([kill, index]) => killRun(fault, judges, kill, index));
  const cut = { cancelled: cuts.length, failed: cuts.length };
  count({ adapters: 4, events: FRAMES, ...cut, killed: kills.length, interrupted: lastKills.length });
});
