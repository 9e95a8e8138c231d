import { deepEqual, equal, ok } from 'node:assert/strict';
import { after, test } from 'node:test';
import { type Frame, Runwire, type Step } from '@runwire/client';
import { startTestServer, TEST_API_KEY } from '@runwire/test-kit';
import { measured, meteredFetch, pollMs } from '../packages/console/src/app/traffic.ts';
import { readOpenFilter, takeFilters, toWords } from '../packages/console/src/lib/search-text.ts';
import { diffWords } from '../packages/console/src/lib/word-diff.ts';
import { countCached } from '../packages/console/src/pages/runs/cached-part.ts';
import { CurrentSteps } from '../packages/console/src/pages/runs/current-steps.ts';
import { getKind, isCompacted, readableFrame, toPreview } from '../packages/console/src/pages/runs/event-text.ts';
import { listRerunSteps } from '../packages/console/src/pages/runs/rerun-steps.ts';
import { toStatus } from '../packages/console/src/pages/runs/run-state.ts';
import { toContent } from '../packages/console/src/pages/runs/step-content.ts';
import { toTimeline } from '../packages/console/src/pages/runs/step-tree.ts';
import { zoomIn, zoomOut } from '../packages/console/src/pages/runs/time-span.ts';

/* What the page of a run makes of its steps and events, with a real run of several agents. */

const server = await startTestServer();
after(() => server[Symbol.asyncDispose]());

const client = new Runwire({ baseUrl: server.url, apiKey: TEST_API_KEY, integration: 'demo' });
const run = client.run({ message: '/team Plan 3 days for 80 euros a day' });
const { runId } = await run.result();
const frames: readonly Frame[] = await Array.fromAsync(run.frames());
const steps: readonly Step[] = (await Array.fromAsync(client.runs.steps({ runId }))).toReversed();
const getName = ({ tool, agent }: Step) => `${agent} ${tool ?? 'model'}`;

test('steps of an asked agent follow the call that asked it, and are deeper', () => {
  const rows = toTimeline(steps).map(({ step, depth }) => `${depth} ${getName(step)}`);
  equal(rows.length, steps.length);
  const asked = rows.indexOf('1 Accountant model');
  deepEqual(rows.slice(asked - 1, asked + 3), [
    '0 Concierge send_message',
    '1 Accountant model',
    '1 Accountant calculate',
    '1 Accountant model',
  ]);
});

test('a call that asked an agent begins with the first step of that agent', () => {
  for (const { step, startMs } of toTimeline(steps)) {
    const asked = steps.filter(({ loop }) => loop !== null && loop === step.callId);
    equal(startMs, Math.min(...[step, ...asked].map(({ startedAt }) => Date.parse(startedAt))));
  }
});

test('steps of an asked agent are shown before the call has finished', () => {
  const unfinished = steps.filter(({ tool }) => tool !== 'send_message');
  const rows = toTimeline(unfinished);
  equal(rows.length, unfinished.length);
  ok(rows.some(({ step, depth }) => step.agent === 'Accountant' && depth === 1));
});

test('finds the arguments and the output of a call', () => {
  const step = steps.find(({ tool }) => tool === 'calculate') as Step;
  const { input, output } = toContent(frames, step);
  deepEqual(JSON.parse(input ?? ''), { operation: 'multiply', a: 3, b: 80 });
  equal(output, '240');
});

test('finds the text and the calls of a model, not those of other agents', () => {
  const [first] = steps as [Step];
  deepEqual(
    toContent(frames, first).calls.map(({ tool }) => tool),
    ['send_message', 'send_message'],
  );
  const answer = steps.findLast(({ agent, loop }) => agent === 'Accountant' && loop !== null) as Step;
  equal(toContent(frames, answer).output, '3 times 80 is 240.');
});

test('knows what a run does after each of its events', () => {
  const current = new CurrentSteps('Concierge');
  const seen = frames.map((frame, index) => {
    const now = current.read(frames.slice(0, index + 1));
    return `${getKind(frame)}: ${now.map(({ agent, tool }) => `${agent} ${tool ?? 'model'}`).join(', ')}`;
  });
  equal(seen[0], 'meta: Concierge model');
  ok(seen.some((line) => /^tool_called: .*Concierge send_message.*, Accountant calculate/.test(line)));
  ok(seen.some((line) => /^response.created: .*Concierge send_message.*, Accountant model/.test(line)));
  equal(new Set(seen).has('tool_output: Concierge model'), true);
  deepEqual(
    current.read(frames.slice(0, 1)).map(({ tool, eventId }) => [tool, eventId]),
    [[null, 0]],
  );
});

test('names events without parsing them', () => {
  const kinds = frames.map(getKind);
  equal(kinds[0], 'meta');
  deepEqual(kinds.slice(-2), ['messages', 'end']);
  for (const kind of ['response.created', 'tool_called', 'tool_output', 'agent_updated_stream_event']) {
    ok(kinds.includes(kind), kind);
  }
  const delta = frames.find((frame) => getKind(frame) === 'response.output_text.delta') as Frame;
  equal(toPreview(delta), JSON.stringify(JSON.parse(delta.data).data.data.delta));
  equal(
    readableFrame(frames.at(-1) as Frame)
      .split('\n')
      .at(-1),
    'data: [DONE]',
  );
});

test('knows compacted events by the missing start of an answer', () => {
  equal(isCompacted(frames), false);
  const kept = frames.filter(
    (frame) => !/^response\.(created|output_item|content_part|completed)/.test(getKind(frame)),
  );
  equal(isCompacted(kept), true);
  equal(isCompacted(frames.slice(0, 1)), false);
});

test('reads a list again so rarely that it takes at most 5 kB/s', async (t) => {
  const answers = [
    { body: '{}', headers: { 'content-type': 'application/json', 'content-length': '30000' } },
    { body: '{}', headers: { 'content-type': 'application/json', 'content-length': '15000' } },
    { body: 'a file', headers: { 'content-type': 'application/octet-stream', 'content-length': '90000000' } },
    { body: '{}', headers: { 'content-type': 'application/json' } },
  ];
  t.mock.method(globalThis, 'fetch', async () => {
    const { body, headers } = answers.shift() as (typeof answers)[number];
    return new Response(body, { headers: headers as Record<string, string> });
  });
  const read = (key: string) => measured([key], () => meteredFetch('http://127.0.0.1/'));
  const kilobytesPerSecond = (bytes: number, ...keys: string[]) => bytes / pollMs(keys.map((key) => [key]), 2000); // biome-ignore format: short
  for (const key of ['first page', 'second page', 'file', 'without length']) await read(key);
  ok(kilobytesPerSecond(45_000, 'first page', 'second page') < 5);
  ok(kilobytesPerSecond(45_000, 'first page', 'second page') > 4);
  equal(pollMs([['file']], 2000), 2000);
  equal(pollMs([['never read']], 2000), 2000);
  ok(pollMs([['without length']], 2000) > 4000);
});

test('a run with open questions is shown as waiting', () => {
  const shown = (pending: readonly unknown[], status = 'completed', cancelRequested: string | null = null) =>
    toStatus({ status, cancelRequested, pending } as never);
  deepEqual(
    [shown([]), shown([{}]), shown([], 'running'), shown([], 'running', 'immediate')],
    ['completed', 'waiting', 'running', 'cancelling'],
  );
});

test('zoom shows the chosen step, or the middle, and ends with the whole run', () => {
  const whole = { startMs: 1000, durationMs: 800 };
  const step = zoomIn(whole, { startMs: 1100, endMs: 1200 });
  deepEqual([step.startMs, step.durationMs].map(Math.round), [1090, 120]);
  const half = zoomIn(whole, null);
  deepEqual(half, { startMs: 1200, durationMs: 400 });
  equal(zoomOut(half, whole), null);
  deepEqual(zoomOut(step, whole), { startMs: 1030, durationMs: 240 });
});

test('marks the first messages that the cached tokens cover', () => {
  const message = { type: 'message', role: 'user', content: 'x'.repeat(960) };
  const prompt = { instructions: '', tools: [], messages: [message, message], settings: {} };
  const shown = { ...prompt, model: null, agencyVersion: null, exact: true };
  const usage = { request_count: 1, input_tokens: 100, output_tokens: 1, reasoning_tokens: 0, total_tokens: 101 };
  equal(countCached(shown, { ...usage, cached_tokens: 0 }), 0);
  equal(countCached(shown, { ...usage, cached_tokens: 60 }), 1);
  equal(countCached(shown, { ...usage, cached_tokens: 100 }), 2);
});

test('typed filters leave the words of a search', () => {
  const names = ['status', 'agent'];
  deepEqual(takeFilters('status:failed agent:"Claims Desk" "refund" note:x ', names), {
    filters: { status: 'failed', agent: 'Claims Desk' },
    rest: '"refund" note:x',
  });
  // What no white space follows is still being typed.
  deepEqual(takeFilters('refund  status:fai', names), { filters: {}, rest: 'refund  status:fai' });
  deepEqual(readOpenFilter('refund agent:"Claims De', names), { name: 'agent', typed: 'Claims De', rest: 'refund' });
  equal(readOpenFilter('note:x', names), null);
  deepEqual(
    ['refund status:fai', 'refund note:x', ' "…" '].map((text) => toWords(text, names)),
    ['refund', 'refund note:x', ''],
  );
});

/** Changed words in brackets. */
const mark = (parts: ReturnType<typeof diffWords>['left']) =>
  parts.map(({ text, isChanged }) => (isChanged ? `[${text}]` : text)).join('');
const marked = (left: string, right: string) => {
  const diff = diffWords(left, right);
  return [mark(diff.left), mark(diff.right)];
};

test('marks the words in which two texts differ', () => {
  deepEqual(marked('The same text.', 'The same text.'), ['The same text.', 'The same text.']);
  deepEqual(marked('It arrives on Tuesday.', 'It arrived on Tuesday, late.'), [
    'It [arrives] on Tuesday.',
    'It [arrived] on Tuesday[, late].',
  ]);
  deepEqual(marked('', 'all new'), ['', '[all new]']);
  deepEqual(marked('one two three', 'one three two'), ['one [two ]three', 'one three[ two]']);
  deepEqual(marked('今天退款', '今天付款'), ['今天[退款]', '今天[付款]']);
});

test('the words that are not marked are the same in both texts', () => {
  const words = ['a', 'b', 'c', ' ', '\n'];
  let seed = 7;
  const next = (below: number) => {
    seed = (seed * 1103515245 + 12345) % 2 ** 31;
    return Math.floor((seed / 2 ** 31) * below);
  };
  const text = () => Array.from({ length: next(40) }, () => words[next(words.length)]).join(' ');
  for (let round = 0; round < 300; round += 1) {
    const [left, right] = [text(), text()];
    const diff = diffWords(left, right);
    equal(diff.left.map((part) => part.text).join(''), left);
    equal(diff.right.map((part) => part.text).join(''), right);
    const kept = (parts: typeof diff.left) =>
      parts.flatMap((part) => (part.isChanged ? [] : part.text.replaceAll(/\s/g, ''))).join('');
    equal(kept(diff.left), kept(diff.right), `${left}\n---\n${right}`);
  }
});

test('texts that differ in almost everything are compared soon', () => {
  const many = (word: string) => Array.from({ length: 20_000 }, (_, index) => `${word}${index}`).join(' ');
  deepEqual(marked(`Begin ${many('x')} end`, `Begin ${many('y')} end`), [
    `Begin [${many('x')}] end`,
    `Begin [${many('y')}] end`,
  ]);
});

test('a run can be run again after finished steps of its first agent, but not after the last one', () => {
  const all = listRerunSteps({ status: 'failed', chatDeleted: false }, steps);
  const own = steps.filter(({ loop }) => loop === null).map(({ step }) => step);
  deepEqual([...all], own);
  deepEqual([...listRerunSteps({ status: 'completed', chatDeleted: false }, steps)], own.slice(0, -1));
  deepEqual([...listRerunSteps({ status: 'completed', chatDeleted: true }, steps)], []);
  deepEqual([...listRerunSteps({ status: 'running', chatDeleted: false }, steps)], []);
  const unfinished = steps.map((step) => ({ ...step, status: 'cancelled' as const }));
  deepEqual([...listRerunSteps({ status: 'cancelled', chatDeleted: false }, unfinished)], []);
});
