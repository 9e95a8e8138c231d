import type { ModelRequest } from '@runwire/test-kit';
import { inLanes } from './support/lanes.ts';
import { expectEqual, expectNumber, type Proof, within } from './support/proof.ts';
import { Rig } from './support/rig.ts';
import { FRAMES, nextCall, type PlayedRun, playUntil, type Stage, WAIT_MS } from './support/three-step-run.ts';

const INTEGRATION = 'heal';
const PATH = `/v2/integrations/${INTEGRATION}`;
/** Events at which one call of a tool is open, two are open, and none is. */
const SHORT = { cuts: [1, 5, 13, 21, 22, 27, 37, 43, 50], kills: [5, 21, 22, 39], lastKills: [22] };
/** From here on the frames arrive together with the end of the run. */
const LAST_CUT = 43;

type Prompt = ModelRequest['prompt'];
/** After a `kill` the run continues; after a `last kill` it has no attempt left. */
type Kill = 'kill' | 'last kill';
type Stop = 'cancel' | 'fail';

/** Why OpenAI would answer 400 to this prompt; null if it would not. */
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
    } else {
      if (open.size > 0) return unanswered();
      if (item.kind === 'assistant' && item.text.trim() === '') return 'An assistant message is empty.';
    }
  }
  const last = prompt.at(-1)?.kind;
  return (
    unanswered() ?? (last === 'user' || last === 'tool_output' ? null : 'The last message is not of user or tool.')
  );
}

const textOf = (prompt: Prompt) => prompt.map((item) => (item.kind === 'assistant' ? item.text : '')).join('');

/** Asks again in the same chat, of a model that refuses what OpenAI refuses. */
async function nextTurn(stage: Stage, chatId: string, run: PlayedRun, cut: Stop | Kill): Promise<void> {
  const reader = await stage.api.complete({ apiIntegrationId: INTEGRATION, chatId, message: 'Next' });
  expectNumber('status of the next turn', reader.status, 200);
  const call = await nextCall(stage.model, String(reader.headers['x-run-id']));
  const { prompt } = call.request;
  expectEqual('what OpenAI says to the next turn', refusedByOpenAi(prompt), null);
  await call.text('Fine.');
  await call.end();
  await within('end of the next turn', WAIT_MS, reader.over);
  expectEqual('end of the next turn', [endOf(reader), reader.answer], ['completed', 'Fine.']);
  const ends = ['Go', 'Next'].map((text) => ({ kind: 'user', text }));
  expectEqual('first and last message', [prompt[0], prompt.at(-1)], ends);
  // The model is shown what the client saw; of a killed server, as far as it was stored.
  const seen = run.reader.answer;
  if (cut === 'last kill') {
    expectEqual('text of the first turn is what the client saw', seen.startsWith(textOf(prompt)), true);
  } else if (cut === 'kill') {
    const { body } = await stage.api.get(`${PATH}/runs/${run.runId}`);
    expectEqual('end and text of the killed run', ['completed', textOf(prompt)], [body.status, body.message]);
  } else {
    expectEqual('text of the first turn', textOf(prompt), seen);
    const shown = prompt.map((item) => (item.kind === 'tool_output' ? item.output : null));
    const outputs = run.reader.frames.filter(({ data }) => data.includes('"name":"tool_output"'));
    const hidden = outputs.map(({ data }) => JSON.parse(data).data.item.output).filter((text) => !shown.includes(text));
    expectEqual('outputs that the model is not shown', hidden, []);
  }
}

const endOf = ({ frames }: PlayedRun['reader']) =>
  JSON.parse(frames.find(({ event }) => event === 'messages')?.data ?? '{}').status;

async function cutRun(stage: Stage, cut: Stop, index: number): Promise<void> {
  const chatId = `${cut}-${index}`;
  const run = await playUntil(stage, chatId, index);
  const isOver = index > LAST_CUT;
  const end = isOver ? 'completed' : cut === 'cancel' ? 'cancelled' : 'failed';
  if (cut === 'cancel') {
    const { status, body } = await stage.api.post(`${PATH}/runs/${run.runId}/cancel`);
    expectEqual('cancel', [status, body.status], [200, end]);
  } else if (!isOver) await within('failure', WAIT_MS, run.fail());
  await within('end of the first turn', WAIT_MS, run.reader.over);
  expectEqual('end of the first turn', endOf(run.reader), end);
  if (isOver) expectNumber('frames of a whole run', run.reader.frames.length, FRAMES);
  await nextTurn(stage, chatId, run, cut);
}

async function killRun(fault: string | null, kill: Kill, index: number): Promise<void> {
  await using rig = await Rig.open();
  const doomed = await rig.add();
  await rig.prepare({ apiIntegrationId: INTEGRATION, agency: 'gate' });
  const { model, gate } = rig;
  const run = await playUntil({ api: doomed.api, model, gate, integration: INTEGRATION }, 'c1', index);
  await doomed.kill();
  await within('end of the cut stream', WAIT_MS, run.reader.over);
  const { api } = await rig.add({ fault, limits: kill === 'kill' ? {} : { maxAttempts: 1 } });
  const stage = { api, model, gate, integration: INTEGRATION };
  if (kill === 'kill') await finishRun(stage, run.runId);
  await nextTurn(stage, 'c1', run, kill);
}

/** The run continues by itself; its model is asked again with a prompt that OpenAI takes. */
async function finishRun({ api, model }: Stage, runId: string): Promise<void> {
  const { body } = await api.get(`${PATH}/runs/${runId}`);
  if (body.status === 'completed') return;
  expectNumber('attempts of the run after the start', body.attempt, 2);
  const reader = await api.events(runId, null, INTEGRATION);
  let call = await nextCall(model, runId);
  while (call.request.attempt === 1) call = await nextCall(model, runId);
  expectEqual('what OpenAI says to the run that continues', refusedByOpenAi(call.request.prompt), null);
  await call.text('Done.');
  await call.end();
  await within('end of the run that continues', WAIT_MS, reader.over);
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
    const every = Array.from({ length: FRAMES }, (_, place) => place + 1);
    const fifth = every.filter((index) => index % 5 === 0);
    const { cuts, kills, lastKills } = scale(SHORT, { cuts: every, kills: every, lastKills: fifth });
    const labelled = <C extends string>(cut: C, indexes: readonly number[]) =>
      indexes.map((index) => [`${cut} at event ${index}`, [cut, index] as const] as const);
    {
      await using rig = await Rig.start({ fault });
      await rig.prepare({ apiIntegrationId: INTEGRATION, agency: 'gate' });
      const stage = { api: rig.api(), model: rig.model, gate: rig.gate, integration: INTEGRATION };
      const both = [...labelled<Stop>('cancel', cuts), ...labelled<Stop>('fail', cuts)];
      await inLanes(1, both, ([cut, index]) => cutRun(stage, cut, index));
    }
    const all = [...labelled<Kill>('last kill', lastKills), ...labelled<Kill>('kill', kills)];
    // Two processes keep two cores busy.
    await inLanes(fault === null ? 2 : 1, all, ([kill, index]) => killRun(fault, kill, index));
    const cut = { cancelled: cuts.length, failed: cuts.length };
    return { events: FRAMES, ...cut, killed: kills.length, interrupted: lastKills.length };
  },
};
