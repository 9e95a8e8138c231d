import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ApiClient, type ModelCall, Rig, type StreamReader, withoutComments } from '@runwire/test-kit';
import { count, plantedFault, scale } from '@runwire/test-kit/scale.ts';
import { expectAtMost, expectEqual, until, within } from '@runwire/test-kit/shortfall.ts';
import { quantile } from './support/readers.ts';

const NODES = 3;
/** Between two tokens: about as fast as a model speaks. */
const TOKEN_MS = 20;
const MEDIAN_MS = 300;
/** Without hints a node looks at the log each second. */
const DEAF_MEDIAN_MS = 1200;

const wait = <T>(what: string, work: Promise<T>) => within(what, 120_000, work);

/** Reads to the end; resolves to the time at which each frame arrived, by its id. */
async function arrivals(reader: StreamReader): Promise<Map<number, number>> {
  const times = new Map<number, number>();
  const takeNew = () => {
    for (const { id } of reader.frames.slice(times.size)) times.set(id, performance.now());
    return false;
  };
  await reader.until(takeNew).catch(() => {});
  return times;
}

/** Starts a run on node `home`; resolves to its stream there and to its model's call. */
async function start(rig: Rig, home: number, body: Parameters<ApiClient['complete']>[0]) {
  const near = await wait('head of a stream', rig.api(home).complete(body));
  expectEqual('status of a stream', near.status, 200);
  const runId = String(near.headers['x-run-id']);
  const toCall = () => rig.model.calls.find(({ request }) => request.runId === runId);
  await until('call of the model', () => toCall() !== undefined, { limitMs: 120_000, pauseMs: 5 });
  return { near, runId, call: toCall() as ModelCall };
}

/** A run that is read on its node and on both others: once by its POST sent again, once by its events. */
async function follow(rig: Rig, home: number, name: string, tokens: number) {
  const body = { usageRequestId: name, message: 'Speak.' };
  const { near, runId, call } = await start(rig, home, body);
  const replay = await wait('head of a replay', rig.api(home + 1).complete(body));
  expectEqual('the run that is replayed on another node', replay.headers['x-run-id'], runId);
  const events = await wait('head of a stream', rig.api(home + 2).events(runId, 0));
  const times = [near, replay, events].map(arrivals);
  for (let i = 0; i < tokens; i += 1) {
    await call.text(`${name} ${i}; `);
    await sleep(TOKEN_MS);
  }
  await call.end();
  const [here = new Map<number, number>(), ...far] = await wait('end of all streams', Promise.all(times));
  for (const { text, over } of [near, replay, events]) {
    expectEqual('streams that came whole', Number(await over), 1);
    expectEqual('a far stream equals the near one', withoutComments(text) === withoutComments(near.text), true);
  }
  return { frames: here.size, delays: far.flatMap((ids) => [...ids].map(([id, at]) => at - (here.get(id) ?? at))) };
}

/** Cancels a run of node `home` on another node; resolves to the time until 200. */
async function cancel(rig: Rig, home: number, distance: number): Promise<number> {
  const { near, runId, call } = await start(rig, home, {});
  await call.text('Half a word');
  await wait('text of a run', near.untilText('Half a word'));
  const before = performance.now();
  const answer = await rig.api(home + distance).post(`/v2/integrations/demo/runs/${runId}/cancel`);
  const took = performance.now() - before;
  expectEqual('answer to a cancel on another node', [answer.status, answer.body.status], [200, 'cancelled']);
  await wait('close of the call', call.closed);
  expectEqual('a cancelled stream came whole', await wait('end', near.over), true);
  return took;
}

async function measure(fault: string | null, dropHints: boolean, size: Record<'runs' | 'tokens' | 'cancels', number>) {
  await using rig = await Rig.start({ fault, nodes: NODES, dropHints });
  const homes = [...Array(NODES).keys()];
  const runs = homes.flatMap((home) =>
    Array.from({ length: size.runs }, (_, i) => follow(rig, home, `run-${home}-${i}`, size.tokens)),
  );
  const read = await Promise.all(runs);
  const cancels: number[] = [];
  for (let i = 0; i < size.cancels; i += 1) {
    for (const home of homes) for (const distance of [1, 2]) cancels.push(await cancel(rig, home, distance));
  }
  const delays = read.flatMap((run) => run.delays);
  return {
    runs: read.length,
    equal_streams: read.length * (NODES - 1),
    frames: read.reduce((sum, run) => sum + run.frames, 0),
    median_ms: quantile(delays, 0.5),
    p99_ms: quantile(delays, 0.99),
    cancels: cancels.length,
    cancel_median_ms: quantile(cancels, 0.5),
    cancel_max_ms: quantile(cancels, 1),
  };
}

test('another node sends the same bytes, soon after', async () => {
  const fault = plantedFault();
  const size = scale({ runs: 1, tokens: 40, cancels: 1 }, { runs: 10, tokens: 200, cancels: 10 });
  const heard = await measure(fault, false, size);
  // The short form runs on busy machines.
  const slack = scale(3, 1);
  expectAtMost('median delay on another node in ms', heard.median_ms, MEDIAN_MS * slack);
  expectAtMost('median time of a cancel on another node in ms', heard.cancel_median_ms, MEDIAN_MS * slack);
  const { runs, frames, cancels, ...deaf } = await measure(fault, true, { ...size, cancels: scale(1, 3) });
  expectAtMost('median delay without hints in ms', deaf.median_ms, DEAF_MEDIAN_MS * slack);
  const deafFigures = Object.entries(deaf).map(([key, value]) => [`deaf_${key}`, value]);
  count({ nodes: NODES, ...heard, ...Object.fromEntries(deafFigures) });
});
