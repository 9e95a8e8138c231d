import { test } from 'node:test';
import { Rig, type StreamReader, withoutComments } from '@runwire/test-kit';
import { count, givenNodes, plantedFault, scale } from '@runwire/test-kit/scale.ts';
import { expectAtLeast, expectAtMost, expectEqual, within } from '@runwire/test-kit/shortfall.ts';
import { countWaits } from './support/lock-waits.ts';

const WAIT_MS = 120_000;
const REQUEST = { usageRequestId: 'request-1', message: 'Only once, please.' };
const WORDS = Array.from({ length: 50 }, (_, i) => `word ${i} `);

type ServerLimits = { readonly streamsPerKey: number; readonly streamsPerOwner: number };

/** Posts to the servers by turns, concurrently. */
const post = (what: string, rig: Rig, count: number, request = REQUEST) =>
  within(what, WAIT_MS, Promise.all(Array.from({ length: count }, (_, turn) => rig.api(turn).complete(request))));

/** Every answer was admitted, all name one run, and all but `firsts` of them are replays. */
function checkHeads(prefix: string, readers: readonly StreamReader[], firsts: number): number {
  const count = (holds: (reader: StreamReader) => boolean) => readers.filter(holds).length;
  const admitted = count(({ status, headers }) => status === 200 && headers['x-agent-run-admitted'] === 'true');
  expectEqual(`${prefix}answers 200 with X-Agent-Run-Admitted: true`, admitted, readers.length);
  const runs = expectEqual(`${prefix}runs`, new Set(readers.map(({ headers }) => headers['x-run-id'])).size, 1);
  const replayed = count(({ headers }) => headers['x-run-replayed'] === 'true');
  expectEqual(`${prefix}answers with X-Run-Replayed: true`, replayed, readers.length - firsts);
  return runs;
}

/** Returns how many streams are whole and equal to the first, byte for byte, heartbeats aside: all of them. */
async function countEqual(prefix: string, readers: readonly StreamReader[]): Promise<number> {
  const whole = await within(`${prefix}end of all streams`, WAIT_MS, Promise.all(readers.map(({ over }) => over)));
  expectEqual(`${prefix}streams that came whole`, whole.filter(Boolean).length, readers.length);
  const first = withoutComments(readers[0]?.text ?? '');
  expectEqual(`${prefix}\`end\` frames in a stream`, first.split('\nevent: end\n').length - 1, 1);
  const equal = readers.filter(({ text }) => withoutComments(text) === first).length;
  return expectEqual(`${prefix}equal streams`, equal, readers.length);
}

/** The model sends its words; then streams and lists have one completed run and one usage record. */
async function finish(prefix: string, rig: Rig, readers: readonly StreamReader[]) {
  const call = await within(`${prefix}call of the model`, WAIT_MS, rig.model.nextCall());
  const early = readers.filter(({ answer }) => answer !== '').length;
  expectEqual(`${prefix}streams with a token before all were attached`, early, 0);
  for (const word of WORDS) await call.text(word);
  await call.end();
  const equalStreams = await countEqual(prefix, readers);
  expectEqual(`${prefix}answer`, readers[0]?.answer, WORDS.join(''));
  const list = async (name: string) => (await rig.api().get(`${rig.path}/${name}`)).body.items;
  const [runs, own, all] = [
    await list('runs'),
    await list(`usage?usageRequestId=${REQUEST.usageRequestId}`),
    await list('usage'),
  ];
  expectEqual(`${prefix}runs listed`, runs.length, 1);
  expectEqual(`${prefix}run`, [runs[0].runId, runs[0].status], [readers[0]?.headers['x-run-id'], 'completed']);
  expectEqual(`${prefix}usage records under the request's id`, own.length, 1);
  return {
    run: runs[0],
    usage_records: expectEqual(`${prefix}usage records`, all.length, 1),
    equal_streams: equalStreams,
  };
}

/** All posts concurrently; the model holds its first token until every one of them is answered. */
async function together(prefix: string, rig: Rig, posts: number) {
  const readers = await post(`${prefix}heads of all posts`, rig, posts);
  const runs = checkHeads(prefix, readers, 1);
  const { run, ...figures } = await finish(prefix, rig, readers);
  return { posts, runs, model_calls: expectEqual(`${prefix}model calls`, rig.model.calls.length, 1), ...figures };
}

/** One equal post to each node concurrently, again and again: their admissions meet in the database. */
async function meet(prefix: string, rig: Rig, rounds: number): Promise<number> {
  const calls = rig.model.calls.length;
  rig.model.answerAll('Once.');
  for (let round = 1; round <= rounds; round += 1) {
    const request = { ...REQUEST, usageRequestId: `meeting-${round}` };
    const readers = await post(`${prefix}heads of a meeting`, rig, rig.servers.length, request);
    checkHeads(`${prefix}meeting: `, readers, 1);
    await countEqual(`${prefix}meeting: `, readers);
  }
  return expectEqual(`${prefix}model calls of all meetings`, rig.model.calls.length - calls, rounds);
}

/** Half of the posts are attached and half in progress when the process dies. All are sent again, and the run continues. */
async function killed(fault: string | null, posts: number, limits: ServerLimits) {
  await using rig = await Rig.start({ fault, limits });
  const attached = await post('heads of half the posts', rig, posts / 2);
  await within('call of the model', WAIT_MS, rig.model.nextCall());
  const inProgress = Array.from({ length: posts / 2 }, () => rig.api().complete(REQUEST));
  const answers = Promise.allSettled(inProgress);
  // By now some of them are answered, some are read and some have not even connected.
  await within('head of one more post', WAIT_MS, Promise.race(inProgress));
  await rig.servers.pop()?.kill();
  const answered = await within('end of the posts in progress', WAIT_MS, answers);
  attached.push(...answered.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : [])));
  const cut = await within('end of the cut streams', WAIT_MS, Promise.all(attached.map(({ over }) => over)));
  expectEqual('kill: streams cut by the kill', cut.filter((isWhole) => !isWhole).length, attached.length);
  checkHeads('kill: before it, ', attached, 1);

  await rig.add();
  const again = await post('heads of all posts', rig, posts);
  const runs = checkHeads('kill: ', again, 0);
  expectEqual('kill: run', again[0]?.headers['x-run-id'], attached[0]?.headers['x-run-id']);
  const { run, usage_records, equal_streams } = await finish('kill: ', rig, again);
  const calls = rig.model.calls.map(({ request }) => request.attempt);
  expectEqual('kill: model calls of one attempt', calls.length - new Set(calls).size, 0);
  expectAtLeast('kill: model calls', calls.length, 2);
  return {
    kill_posts: posts,
    kill_attached: attached.length,
    kill_runs: runs,
    kill_model_calls: expectAtMost('kill: model calls', calls.length, run.attempt),
    kill_usage_records: usage_records,
    kill_equal_streams: equal_streams,
  };
}

test('the same request is one run and one usage record', async () => {
  const fault = plantedFault();
  const nodes = givenNodes();
  const posts = scale(100, 1000);
  // All streams are opened with one key.
  const limits = { streamsPerKey: posts, streamsPerOwner: posts };
  if (nodes === null) {
    await using rig = await Rig.start({ fault, limits });
    count({ ...(await together('', rig, posts)), ...(await killed(fault, posts, limits)) });
    return;
  }
  const play = async (prefix: string, dropHints: boolean) => {
    await using rig = await Rig.start({ fault, limits, nodes, dropHints });
    return await countWaits(rig, async () => {
      const figures = await together(prefix, rig, posts);
      return { ...figures, meetings: await meet(prefix, rig, scale(10, 50)) };
    });
  };
  const heard = await play('', false);
  const deaf = await play('without hints: ', true);
  count({
    nodes,
    ...heard,
    deaf_runs: deaf.runs,
    deaf_equal_streams: deaf.equal_streams,
    deaf_lock_waits: deaf.lock_waits,
    deaf_retries: deaf.retries,
  });
});
