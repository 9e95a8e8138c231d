import { setTimeout as sleep } from 'node:timers/promises';
import { type ApiClient, type ModelCall, type StreamReader, withoutComments } from '@runwire/test-kit';
import { expectAtMost, expectEqual, expectNumber, type Proof, within } from './support/proof.ts';
import { Rig } from './support/rig.ts';

const NODES = 3;
/** Between two tokens: about as fast as a model speaks. */
const TOKEN_MS = 20;
const MEDIAN_MS = 300;
/** Without hints a node looks at the log each second. */
const DEAF_MEDIAN_MS = 1200;

const wait = <T>(what: string, work: Promise<T>) => within(what, 120_000, work);
const quantile = (values: readonly number[], part: number) =>
  Math.round(values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * part))] ?? 0);

/** Reads to the end; resolves to the time at which each frame arrived, by its id. */
async function arrivals(reader: StreamReader): Promise<Map<number, number>> {
  const times = new Map<number, number>();
  let seen = 0;
  const more = () => reader.until(({ text }) => text.length > seen).then(() => true, () => false); // biome-ignore format: short
  while (await more()) {
    const whole = reader.text.lastIndexOf('\n\n') + 2;
    for (const [, id] of reader.text.slice(seen, whole).matchAll(/^id: (\d+)$/gm))
      times.set(Number(id), performance.now());
    seen = Math.max(whole, seen + 1);
  }
  expectNumber('streams that came whole', Number(await reader.over), 1);
  return times;
}

class RemoteReaders {
  readonly #rig: Rig;
  readonly #calls = new Map<string, PromiseWithResolvers<ModelCall>>();

  constructor(rig: Rig) {
    this.#rig = rig;
    rig.model.onCall = (call) => this.#callOf(call.request.runId).resolve(call);
  }

  #callOf(runId: string): PromiseWithResolvers<ModelCall> {
    const known = this.#calls.get(runId) ?? Promise.withResolvers<ModelCall>();
    this.#calls.set(runId, known);
    return known;
  }

  /** A run of node `home`, and the call of its model. */
  async #start(home: number, body: Parameters<ApiClient['complete']>[0]) {
    const near = await wait('head of a stream', this.#rig.api(home).complete(body));
    expectNumber('status of a stream', near.status, 200);
    const runId = String(near.headers['x-run-id']);
    return { near, runId, call: await wait('call of the model', this.#callOf(runId).promise) };
  }

  /** A run that is read on its node and on both others: once by its POST sent again, once by its events. */
  async follow(home: number, name: string, tokens: number) {
    const body = { usageRequestId: name, message: 'Speak.' };
    const { near, runId, call } = await this.#start(home, body);
    const replay = await wait('head of a replay', this.#rig.api(home + 1).complete(body));
    expectEqual('the run that is replayed on another node', replay.headers['x-run-id'], runId);
    const events = await wait('head of a stream', this.#rig.api(home + 2).events(runId, 0));
    const times = [near, replay, events].map(arrivals);
    for (let i = 0; i < tokens; i += 1) {
      await call.text(`${name} ${i}; `);
      await sleep(TOKEN_MS);
    }
    await call.end();
    const [here = new Map<number, number>(), ...far] = await wait('end of all streams', Promise.all(times));
    for (const { text } of [replay, events]) {
      expectEqual('a far stream equals the near one', withoutComments(text) === withoutComments(near.text), true);
    }
    return { frames: here.size, delays: far.flatMap((ids) => [...ids].map(([id, at]) => at - (here.get(id) ?? at))) };
  }

  /** Plain text, read on the node of the run and on another one. */
  async followText(home: number): Promise<void> {
    const body = { apiIntegrationId: 'text', usageRequestId: `text-${home}` };
    const { near, call } = await this.#start(home, body);
    const far = await wait('head of a text', this.#rig.api(home + 1).complete(body));
    for (const word of ['One ', 'two ', 'three.']) await call.text(word);
    await call.end();
    const whole = await wait('end of the texts', Promise.all([near.over, far.over]));
    expectEqual('texts', [whole, near.text, far.text], [[true, true], 'One two three.', 'One two three.']);
  }

  /** Cancels a run of node `home` on another node; returns the time until 200. */
  async cancel(home: number, distance: number): Promise<number> {
    const { near, runId, call } = await this.#start(home, {});
    await call.text('Half a word');
    await wait('text of a run', near.untilText('Half a word'));
    const before = performance.now();
    const answer = await this.#rig.api(home + distance).post(`/v2/integrations/demo/runs/${runId}/cancel`);
    const took = performance.now() - before;
    expectEqual('answer to a cancel on another node', [answer.status, answer.body.status], [200, 'cancelled']);
    await wait('close of the call', call.closed);
    expectEqual('a cancelled stream came whole', await wait('end', near.over), true);
    return took;
  }
}

async function measure(fault: string | null, dropHints: boolean, size: Record<'runs' | 'tokens' | 'cancels', number>) {
  await using rig = await Rig.start({ fault, nodes: NODES, dropHints });
  await rig.prepare({ apiIntegrationId: 'text', textOnly: true });
  const readers = new RemoteReaders(rig);
  const homes = [...Array(NODES).keys()];
  const runs = homes.flatMap((home) =>
    Array.from({ length: size.runs }, (_, i) => readers.follow(home, `run-${home}-${i}`, size.tokens)),
  );
  const read = await Promise.all(runs);
  await Promise.all(homes.map((home) => readers.followText(home)));
  const cancels: number[] = [];
  for (let i = 0; i < size.cancels; i += 1) {
    for (const home of homes) for (const distance of [1, 2]) cancels.push(await readers.cancel(home, distance));
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

export const proof: Proof = {
  name: 'far-reader',
  minutes: 1,
  faults: { 'skip-chunk': /^(streams that came whole: expected 1|a far stream equals the near one: expected true), /m },
  figures: (scale) => ({ runs: scale(3, 30), cancels: scale(6, 60), deaf_equal_streams: scale(6, 60) }),
  async run({ fault, scale }) {
    const size = scale({ runs: 1, tokens: 40, cancels: 1 }, { runs: 10, tokens: 200, cancels: 10 });
    const heard = await measure(fault, false, size);
    // The short form runs on busy machines.
    const slack = scale(3, 1);
    expectAtMost('median delay on another node in ms', heard.median_ms, MEDIAN_MS * slack);
    expectAtMost('median time of a cancel on another node in ms', heard.cancel_median_ms, MEDIAN_MS * slack);
    const { runs, frames, cancels, ...deaf } = await measure(fault, true, { ...size, cancels: scale(1, 3) });
    expectAtMost('median delay without hints in ms', deaf.median_ms, DEAF_MEDIAN_MS * slack);
    const deafFigures = Object.entries(deaf).map(([key, value]) => [`deaf_${key}`, value]);
    return { nodes: NODES, ...heard, ...Object.fromEntries(deafFigures) };
  },
};
