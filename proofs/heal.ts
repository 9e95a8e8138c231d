import type { ModelRequest } from '@runwire/test-kit';
import { expectEqual, WAIT_MS, within } from '@runwire/test-kit/shortfall.ts';
import { inLanes } from './support/lanes.ts';
import type { Proof } from './support/proof.ts';
import { Rig } from './support/rig.ts';
import { whole } from './support/story.ts';
import { EVERY_FRAME, FRAMES, nextCall, type PlayedRun, playUntil } from './support/three-step-run.ts';

/** Events at which one call of a tool is open, two are open, and none is. */
const SHORT = { cuts: [1, 5, 13, 21, 22, 27, 37, 43, 50], kills: [5, 21, 22, 39], lastKills: [22] };
const FULL = { cuts: EVERY_FRAME, kills: EVERY_FRAME, lastKills: EVERY_FRAME.filter((index) => index % 5 === 0) };
/** From here on the frames arrive together with the end of the run. */
const LAST_CUT = 43;
const INTEGRATION = { apiIntegrationId: 'heal', agency: 'gate' };

type Prompt = ModelRequest['prompt'];
/** After a `kill` the run continues; after a `last kill` it has no attempt left. */
type Cut = 'cancel' | 'fail' | 'kill' | 'last kill';

/** Returns why OpenAI would answer 400 to this prompt, or null. */
function refusedByOpenAi(prompt: Prompt): string | null {
  const open = new Set<string>();
  const known = new Set<string>();
  const unanswered = () => (open.size === 0 ? null : `No tool output found for function call ${[...open].join(', ')}.`);
  for (const item of prompt) {
    if (item.kind === 'tool_call') {
      if (item.callId === '' || known.has(item.callId)) return `Duplicate call id ${JSON.stringify(item.callId)}.`;
      known.add(item.callId);
      open.add(item.callId);
    } else if (item.kind === 'tool_output') {
      if (!open.delete(item.callId)) return `No tool call found for function call output ${item.callId}.`;
    } else if (open.size > 0) return unanswered();
    else if (item.kind === 'assistant' && item.text.trim() === '') return 'An assistant message is empty.';
  }
  const last = prompt.at(-1)?.kind;
  const isAsking = last === 'user' || last === 'tool_output';
  return unanswered() ?? (isAsking ? null : 'The last message is not of user or tool.');
}

const textOf = (prompt: Prompt) => prompt.map((item) => (item.kind === 'assistant' ? item.text : '')).join('');
const endOf = ({ frames }: PlayedRun['reader']) =>
  JSON.parse(frames.find(({ event }) => event === 'messages')?.data ?? '{}').status;

/** Asks again in the same chat, of a model that refuses what OpenAI refuses. */
async function nextTurn(rig: Rig, { chatId, reader: first, runId }: PlayedRun, cut: Cut): Promise<void> {
  const api = rig.servers.at(-1)?.api ?? rig.api();
  const sent = await api.complete({ apiIntegrationId: rig.integration, chatId, message: 'Next' });
  const call = await nextCall(rig, String(sent.headers['x-run-id']));
  const { prompt } = call.request;
  expectEqual('what OpenAI says to the next turn', refusedByOpenAi(prompt), null);
  await call.text('Fine.');
  await call.end();
  const reader = await whole(Promise.resolve(sent));
  expectEqual('end of the next turn', [endOf(reader), reader.answer], ['completed', 'Fine.']);
  const ends = ['Go', 'Next'].map((text) => ({ kind: 'user', text }));
  expectEqual('first and last message', [prompt[0], prompt.at(-1)], ends);
  // The model is shown what the client saw; of a killed server, as far as it was stored.
  if (cut === 'last kill') {
    expectEqual('text of the first turn is what the client saw', first.answer.startsWith(textOf(prompt)), true);
  } else if (cut === 'kill') {
    const { body } = await api.get(`${rig.path}/runs/${runId}`);
    expectEqual('end and text of the killed run', ['completed', textOf(prompt)], [body.status, body.message]);
  } else {
    expectEqual('text of the first turn', textOf(prompt), first.answer);
    const shown = prompt.map((item) => (item.kind === 'tool_output' ? item.output : null));
    const outputs = first.frames.filter(({ data }) => data.includes('"name":"tool_output"'));
    const hidden = outputs.map(({ data }) => JSON.parse(data).data.item.output).filter((text) => !shown.includes(text));
    expectEqual('outputs that the model is not shown', hidden, []);
  }
}

async function cutRun(rig: Rig, cut: Cut, index: number): Promise<void> {
  const run = await playUntil(rig, `${cut}-${index}`, index);
  const isOver = index > LAST_CUT;
  const end = isOver ? 'completed' : cut === 'cancel' ? 'cancelled' : 'failed';
  if (cut === 'cancel') {
    const { status, body } = await rig.api().post(`${rig.path}/runs/${run.runId}/cancel`);
    expectEqual('cancel', [status, body.status], [200, end]);
  } else if (!isOver) await within('failure', WAIT_MS, run.fail());
  await within('end of the first turn', WAIT_MS, run.reader.over);
  expectEqual('end of the first turn', endOf(run.reader), end);
  if (isOver) expectEqual('frames of a whole run', run.reader.frames.length, FRAMES);
  await nextTurn(rig, run, cut);
}

async function killRun(fault: string | null, kill: Cut, index: number): Promise<void> {
  await using rig = await Rig.open();
  const doomed = await rig.add();
  await rig.prepare(INTEGRATION);
  const run = await playUntil(rig, 'c1', index);
  await doomed.kill();
  await within('end of the cut stream', WAIT_MS, run.reader.over);
  const { api } = await rig.add({ fault, limits: kill === 'kill' ? {} : { maxAttempts: 1 } });
  const { body } = await api.get(`${rig.path}/runs/${run.runId}`);
  if (kill === 'kill' && body.status !== 'completed') {
    // The run continues by itself; its model is asked again with a prompt that OpenAI takes.
    expectEqual('attempts of the run after the start', body.attempt, 2);
    const reader = api.events(run.runId, null, rig.integration);
    let call = await nextCall(rig, run.runId);
    while (call.request.attempt === 1) call = await nextCall(rig, run.runId);
    expectEqual('what OpenAI says to the run that continues', refusedByOpenAi(call.request.prompt), null);
    await call.text('Done.');
    await call.end();
    await whole(reader);
  }
  await nextTurn(rig, run, kill);
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
    const { cuts, kills, lastKills } = scale(SHORT, FULL);
    const labelled = (cut: Cut, indexes: readonly number[]) =>
      indexes.map((index) => [`${cut} at event ${index}`, [cut, index] as const] as const);
    await using rig = await Rig.start({ fault });
    await rig.prepare(INTEGRATION);
    const both = [...labelled('cancel', cuts), ...labelled('fail', cuts)];
    await inLanes(1, both, ([cut, index]) => cutRun(rig, cut, index));
    const all = [...labelled('last kill', lastKills), ...labelled('kill', kills)];
    // Two processes keep two cores busy.
    await inLanes(fault === null ? 2 : 1, all, ([kill, index]) => killRun(fault, kill, index));
    const cut = { cancelled: cuts.length, failed: cuts.length };
    return { events: FRAMES, ...cut, killed: kills.length, interrupted: lastKills.length };
  },
};
