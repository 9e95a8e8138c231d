import { type ApiClient, ModelController, type NodeGroup, type StreamReader, withoutComments } from '@runwire/test-kit';
import { DataFolder } from './support/data-folder.ts';
import { LockWaits, retriesOf } from './support/lock-waits.ts';
import { expectAtLeast, expectAtMost, expectNumber, type Proof, within } from './support/proof.ts';
import { startNodes } from './support/start-nodes.ts';
import { startServer } from './support/start-server.ts';

const WAIT_MS = 120_000;
const REQUEST = { usageRequestId: 'request-1', message: 'Only once, please.' };
const WORDS = Array.from({ length: 50 }, (_, i) => `word ${i} `);

const distinct = (values: Iterable<unknown>) => new Set(values).size;
const many = <T>(count: number, make: (place: number) => Promise<T>) =>
  Array.from({ length: count }, (_, place) => make(place));

/** Every post's answer says what it must: admitted, one run, and all but `firsts` of them replays. */
function checkHeads(prefix: string, readers: readonly StreamReader[], firsts: number): number {
  const count = (holds: (reader: StreamReader) => boolean) => readers.filter(holds).length;
  expectNumber(
    `${prefix}answers of status 200`,
    count(({ status }) => status === 200),
    readers.length,
  );
  const admitted = count(({ headers }) => headers['x-agent-run-admitted'] === 'true');
  expectNumber(`${prefix}answers with X-Agent-Run-Admitted: true`, admitted, readers.length);
  const runs = expectNumber(`${prefix}runs`, distinct(readers.map(({ headers }) => headers['x-run-id'])), 1);
  const replayed = count(({ headers }) => headers['x-run-replayed'] === 'true');
  expectNumber(`${prefix}answers with X-Run-Replayed: true`, replayed, readers.length - firsts);
  return runs;
}

/** How many streams are whole and equal to the first, byte for byte, heartbeats aside. */
async function countEqual(prefix: string, readers: readonly StreamReader[]): Promise<number> {
  const whole = await within(`${prefix}end of all streams`, WAIT_MS, Promise.all(readers.map(({ over }) => over)));
  expectNumber(`${prefix}streams that came whole`, whole.filter(Boolean).length, readers.length);
  const first = withoutComments(readers[0]?.text ?? '');
  expectNumber(`${prefix}\`end\` frames in a stream`, first.split('\nevent: end\n').length - 1, 1);
  const equal = readers.filter(({ text }) => withoutComments(text) === first).length;
  return expectNumber(`${prefix}equal streams`, equal, readers.length);
}

/** What the server itself lists: one run and one usage record, of the run that all were told. */
async function countRecords(prefix: string, api: ApiClient, runId: unknown) {
  const { body: runs } = await api.get('/v2/integrations/demo/runs');
  expectNumber(`${prefix}runs listed`, runs.items.length, 1);
  expectNumber(`${prefix}runs listed under the id that was told`, Number(runs.items[0].runId === runId), 1);
  const { body: all } = await api.get('/v2/integrations/demo/usage');
  const { body: own } = await api.get(`/v2/integrations/demo/usage?usageRequestId=${REQUEST.usageRequestId}`);
  expectNumber(`${prefix}usage records under the request's id`, own.items.length, 1);
  return { usageRecords: expectNumber(`${prefix}usage records`, all.items.length, 1), run: runs.items[0] };
}

/** All posts at once, by turns to each server; the model holds its first token until every one of them is answered. */
async function together(prefix: string, api: (place: number) => ApiClient, model: ModelController, posts: number) {
  const readers = await within(
    `${prefix}heads of all posts`,
    WAIT_MS,
    Promise.all(many(posts, (place) => api(place).complete(REQUEST))),
  );
  const runs = checkHeads(prefix, readers, 1);
  const call = await within('call of the model', WAIT_MS, model.nextCall());
  const early = readers.filter(({ answer }) => answer !== '').length;
  expectNumber(`${prefix}streams with a token before all were attached`, early, 0);
  for (const word of WORDS) await call.text(word);
  await call.end();
  const equalStreams = await countEqual(prefix, readers);
  expectNumber(`${prefix}answers with every token`, Number(readers[0]?.answer === WORDS.join('')), 1);
  const { usageRecords, run } = await countRecords(prefix, api(1), readers[0]?.headers['x-run-id']);
  expectNumber(`${prefix}runs completed`, Number(run.status === 'completed'), 1);
  const modelCalls = expectNumber(`${prefix}model calls`, model.calls.length, 1);
  return { posts, runs, model_calls: modelCalls, usage_records: usageRecords, equal_streams: equalStreams };
}

async function onOne(fault: string | null, posts: number) {
  using folder = new DataFolder();
  await using model = await ModelController.start();
  await using server = await startServer(fault, { dataDir: folder.path, controllerPort: model.port });
  return await together('', () => server.api, model, posts);
}

/** One equal post to each node at once, again and again: how their admissions meet in the database. */
async function meet(prefix: string, nodes: NodeGroup, model: ModelController, rounds: number) {
  const calls = model.calls.length;
  model.answerAll('Once.');
  for (let round = 1; round <= rounds; round += 1) {
    const request = { ...REQUEST, usageRequestId: `meeting-${round}` };
    const posts = many(nodes.nodes.length, (place) => nodes.api(place).complete(request));
    const readers = await within(`${prefix}heads of a meeting`, WAIT_MS, Promise.all(posts));
    checkHeads(`${prefix}meeting: `, readers, 1);
    await countEqual(`${prefix}meeting: `, readers);
  }
  return expectNumber(`${prefix}model calls of all meetings`, model.calls.length - calls, rounds);
}

async function onSeveral(fault: string | null, posts: number, meetings: number, nodes: number, dropHints: boolean) {
  const prefix = dropHints ? 'without hints: ' : '';
  await using model = await ModelController.start();
  await using all = await startNodes(nodes, fault, { controllerPort: model.port, dropHints });
  await using waits = await LockWaits.start(all.databaseUrl);
  const figures = await together(prefix, (place) => all.api(place), model, posts);
  const met = await meet(prefix, all, model, meetings);
  const retries = await retriesOf(all);
  expectAtLeast(`${prefix}lock waits and retries`, waits.count + retries, 1);
  return { ...figures, meetings: met, lock_waits: waits.count, retries };
}

/** Half of the posts are attached and half under way when the process dies; then all are sent again, and the run goes on. */
async function killed(fault: string | null, posts: number) {
  using folder = new DataFolder();
  await using model = await ModelController.start();
  const options = { dataDir: folder.path, controllerPort: model.port };
  const half = posts / 2;
  await using doomed = await startServer(fault, options);
  const attached = await within(
    'heads of half the posts',
    WAIT_MS,
    Promise.all(many(half, () => doomed.api.complete(REQUEST))),
  );
  const runId = attached[0]?.headers['x-run-id'];
  await within('call of the model', WAIT_MS, model.nextCall());
  const underWay = many(posts - half, () => doomed.api.complete(REQUEST));
  const answers = Promise.allSettled(underWay);
  // By now some of them are answered, some are read and some have not even connected.
  await within('head of one more post', WAIT_MS, Promise.race(underWay));
  await doomed.kill('SIGKILL');
  for (const answer of await within('end of the posts under way', WAIT_MS, answers)) {
    if (answer.status === 'fulfilled') attached.push(answer.value);
  }
  const cut = await within('end of the cut streams', WAIT_MS, Promise.all(attached.map(({ over }) => over)));
  expectNumber('kill: streams cut by the kill', cut.filter((whole) => !whole).length, attached.length);
  checkHeads('kill: before it, ', attached, 1);

  await using server = await startServer(fault, options);
  const again = await within(
    'heads of all posts',
    WAIT_MS,
    Promise.all(many(posts, () => server.api.complete(REQUEST))),
  );
  const runs = checkHeads('kill: ', again, 0);
  expectNumber('kill: runs other than before', Number(again[0]?.headers['x-run-id'] !== runId), 0);
  const call = await within('call of the model after the kill', WAIT_MS, model.nextCall());
  for (const word of WORDS) await call.text(word);
  await call.end();
  const equalStreams = await countEqual('kill: ', again);
  expectNumber('kill: answers with every token', Number(again[0]?.answer === WORDS.join('')), 1);
  const { usageRecords, run } = await countRecords('kill: ', server.api, runId);
  expectNumber('kill: runs completed', Number(run.status === 'completed'), 1);
  const perAttempt = new Map<number, number>();
  for (const { request } of model.calls) perAttempt.set(request.attempt, (perAttempt.get(request.attempt) ?? 0) + 1);
  expectAtMost('kill: model calls of one attempt', Math.max(...perAttempt.values()), 1);
  expectAtLeast('kill: model calls', model.calls.length, 2);
  return {
    kill_posts: posts,
    kill_attached: attached.length,
    kill_runs: runs,
    kill_model_calls: expectAtMost('kill: model calls', model.calls.length, run.attempt),
    kill_usage_records: usageRecords,
    kill_equal_streams: equalStreams,
  };
}

export const proof: Proof = {
  name: 'one-run',
  minutes: 0.25,
  faults: {
    'forget-requests': /^(runs|usage records under the request's id): expected 1, found \d+\.$/m,
  },
  spreads: true,
  async run({ fault, scale, nodes }) {
    const short = scale(true, false);
    const posts = short ? 100 : 1000;
    if (nodes === null) return { ...(await onOne(fault, posts)), ...(await killed(fault, posts)) };
    const meetings = short ? 10 : 50;
    const heard = await onSeveral(fault, posts, meetings, nodes, false);
    const deaf = await onSeveral(fault, posts, meetings, nodes, true);
    return {
      nodes,
      ...heard,
      deaf_runs: deaf.runs,
      deaf_equal_streams: deaf.equal_streams,
      deaf_lock_waits: deaf.lock_waits,
      deaf_retries: deaf.retries,
    };
  },
};
