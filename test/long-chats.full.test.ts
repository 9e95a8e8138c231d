import { test } from 'node:test';
import { type ModelCall, Rig, SCRIPTED_USAGE } from '@runwire/test-kit';
import { count, plantedFault, scale } from '@runwire/test-kit/scale.ts';
import {
  addTo,
  expectAtLeast,
  expectAtMost,
  expectEqual,
  named,
  WAIT_MS,
  within,
} from '@runwire/test-kit/shortfall.ts';
import { inLanes } from './support/lanes.ts';
import { answerWithFacts, isSummaryCall, sentText } from './support/summarizing-model.ts';

/*
 * Chats that are far longer than their model's window. The scripted model sums up only the facts that it is shown, so a fact
 * that one summary loses never appears again.
 */

const TURNS = scale(60, 500);
/** A chat of `TURNS` turns fills the window several times. */
const WINDOWS = scale(
  [{ windowTokens: 2000, turnTokens: 120 }],
  [
    { windowTokens: 8000, turnTokens: 120 },
    { windowTokens: 200_000, turnTokens: 1500 },
  ],
);
/** The tokens of an item besides its text, and of the words around a summary. */
const OVERHEAD_TOKENS = 50;

const shown = ({ request }: ModelCall) => JSON.stringify(request.prompt);

async function growChat({ windowTokens, turnTokens }: (typeof WINDOWS)[number]) {
  await using rig = await Rig.scaled({ env: { RUNWIRE_MODEL_WINDOW: String(windowTokens) } });
  await rig.prepare(
    { apiIntegrationId: 'long', agency: 'test', allowances: { unit: 'tokens', limit: 1e9, period: 'month' } },
    'ann',
  );
  const { calls } = rig.model;
  const text = (begin: string) => begin.padEnd(turnTokens * 2, '.');
  answerWithFacts(rig.model, () => text('Noted.'));
  let before = '';
  let stable = 0;
  const summarized: number[] = [];
  for (let turn = 1; turn <= TURNS; turn += 1) {
    const first = calls.length;
    const message = text(turn % 25 === 1 ? `FACT-${turn} ` : `Turn ${turn} `);
    const body = { apiIntegrationId: 'long', chatId: 'c1', consumerId: 'ann', usageRequestId: `turn-${turn}`, message };
    await within('end of a run', WAIT_MS, (await rig.api().complete(body)).whole());
    const made = calls.slice(first);
    const answered = made.at(-1) as ModelCall;
    expectEqual('facts of turn 1 in the last prompt', sentText(answered).match(/FACT-1\b/) === null ? 0 : 1, 1);
    if (made.length > 1) summarized.push(turn);
    else if (shown(answered).startsWith(before)) stable += 1;
    before = shown(answered).slice(0, -1);
  }
  // Half of the window is for earlier turns, and half of that fills up between two summaries.
  const half = windowTokens / 4;
  const gaps = summarized.slice(1).map((turn, index) => turn - (summarized[index] ?? 0));
  const tooEarly = gaps.filter((turns) => turns * (turnTokens + 2 * OVERHEAD_TOKENS) < half).length;
  expectEqual('summaries before another half of the room was full', tooEarly, 0);
  const all = TURNS * turnTokens;
  expectAtLeast('summaries', summarized.length, Math.floor(all / windowTokens));
  expectAtMost('summaries', summarized.length, Math.ceil(all / half));
  expectEqual('prompts that begin as the one before', stable, TURNS - summarized.length);
  const { body } = await rig.api().get(`${rig.path}/members/ann`);
  const perCall = SCRIPTED_USAGE.inputTokens + SCRIPTED_USAGE.outputTokens;
  expectEqual('charged tokens', body.allowance.used, calls.length * perCall);
  expectEqual('model calls', calls.length, TURNS + summarized.length);
  return { turns: TURNS, summaries: summarized.length, stable };
}

test('a chat is summed up once per half of the room, and keeps its facts', async () => {
  const sum = { turns: 0, summaries: 0, stable: 0 };
  for (const setting of WINDOWS) {
    addTo(sum, await named(`window of ${setting.windowTokens}`, growChat(setting)));
  }
  count(sum);
});

/** The run that sums up has the tokens of its summary once. */
const SUMMARY_TOKENS = 100_000;
const WORDS = 6;
/** `meta`, the summary, the answer's events, and the end. */
const EVENTS = 20;

async function killAt(fault: string | null, event: number) {
  await using rig = await Rig.open({ env: { RUNWIRE_MODEL_WINDOW: '2000' } });
  const doomed = await rig.add({ fault: null });
  await rig.prepare({ apiIntegrationId: 'long', agency: 'test' });
  const body = (turn: number) => ({
    apiIntegrationId: 'long',
    chatId: 'c1',
    message: `FACT-${turn} `.padEnd(400, '.'),
    usageRequestId: `turn-${turn}`,
  });
  rig.model.answerAll('Noted.'.padEnd(400, '.'));
  const turns = 6;
  for (let turn = 1; turn < turns; turn += 1) await (await rig.api().complete(body(turn))).whole();
  const summaries: ModelCall[] = [];
  const sumUp = async (call: ModelCall) => {
    summaries.push(call);
    await call.text('Facts: FACT-1');
    await call.end({ ...SCRIPTED_USAGE, inputTokens: SUMMARY_TOKENS });
  };
  // Event 0 stands for the call of the summary, which has no event.
  const asked = Promise.withResolvers<void>();
  rig.model.onCall = async (call) => {
    if (isSummaryCall(call)) {
      if (event > 0) return sumUp(call);
      summaries.push(call);
      return asked.resolve();
    }
    for (let word = 1; word <= WORDS; word += 1) await call.text(`word ${word} `);
    await call.end();
  };
  const reader = await rig.api().complete(body(turns));
  const isReached = () => reader.until(({ frames }) => frames.some(({ id }) => id >= event));
  await within(`event ${event}`, WAIT_MS, event === 0 ? asked.promise : isReached());
  await doomed.kill();
  await within('end of the cut stream', WAIT_MS, reader.over);
  const seen = reader.frames.some(({ data }) => data.includes('"response.created"'));
  const before = summaries.length;
  rig.model.onCall = async (call) => {
    if (isSummaryCall(call)) return sumUp(call);
    await call.text('Again.');
    await call.end();
  };
  const server = await rig.add({ fault });
  const { frames } = await rig.follow(reader, { servers: () => [server] });
  const again = summaries.length - before;
  if (seen) expectEqual('summaries that were asked again after their step was stored', again, 0);
  const items = frames.filter(({ data }) => data.includes('"name":"history_summarized"'));
  expectEqual('items of the summary', items.length, 1);
  const runId = String(reader.headers['x-run-id']);
  const { body: run } = await server.api.get(`${rig.path}/runs/${runId}`);
  expectEqual('status', run.status, 'completed');
  expectEqual('charged summaries', Math.floor(run.usage.input_tokens / SUMMARY_TOKENS), 1);
  const { body: steps } = await server.api.get(`${rig.path}/runs/${runId}/steps`);
  expectEqual('steps of the summary', steps.items.filter(({ kind }: { kind: string }) => kind === 'summary').length, 1);
  const next = rig.model.calls.length;
  await (await server.api.complete(body(turns + 1))).whole();
  const [later] = rig.model.calls.slice(next);
  expectEqual('first word of the next prompt', sentText(later as ModelCall).includes('Facts: FACT-1'), true);
  return { kills: 1, asked_again: again };
}

test('a summary is charged once after a kill at any event', async () => {
  const sum = { kills: 0, asked_again: 0 };
  const events = scale(
    [0, 2, 4],
    Array.from({ length: EVENTS + 1 }, (_, event) => event),
  );
  const kills = events.map((event) => [`kill at event ${event}`, event] as const);
  await inLanes(2, kills, async (event) => addTo(sum, await killAt(plantedFault(), event)));
  count(sum);
});
