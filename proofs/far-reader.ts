import { setTimeout as sleep } from 'node:timers/promises';
import { type ModelCall, ModelController, type NodeGroup, type StreamReader, withoutComments } from '@runwire/test-kit';
import { expectAtMost, expectEqual, expectNumber, type Proof, within } from './support/proof.ts';
import { StampedReader } from './support/stamped-reader.ts';
import { startNodes } from './support/start-nodes.ts';

const WAIT_MS = 120_000;
const NODES = 3;
/** Between two tokens: about as fast as a model speaks. */
const TOKEN_MS = 20;
const MEDIAN_MS = 300;
/** Where no hint comes, the log is looked at each second. */
const DEAF_MEDIAN_MS = 1200;
/** On a busy machine the short form only shows that it works. */
const SHORT_LENIENCE = 3;

interface Size {
  /** Of each node. */
  readonly runs: number;
  readonly tokens: number;
  /** Of each node's runs, from each other node. */
  readonly cancels: number;
}

const quantile = (values: readonly number[], part: number) =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * part))] ?? 0;
const rounded = (ms: number) => Math.round(ms);

/** The calls of the model, by their run. */
class Calls {
  readonly #taken = new Map<string, PromiseWithResolvers<ModelCall>>();

  constructor(model: ModelController) {
    model.onCall = (call) => this.#of(call.request.runId).resolve(call);
  }

  #of(runId: string): PromiseWithResolvers<ModelCall> {
    const known = this.#taken.get(runId) ?? Promise.withResolvers<ModelCall>();
    this.#taken.set(runId, known);
    return known;
  }

  of(runId: string): Promise<ModelCall> {
    return within('call of the model', WAIT_MS, this.#of(runId).promise);
  }
}

async function admitted(reader: Promise<StreamReader>): Promise<{ reader: StreamReader; runId: string }> {
  const head = await within('head of a stream', WAIT_MS, reader);
  expectNumber('status of a stream', head.status, 200);
  return { reader: head, runId: String(head.headers['x-run-id']) };
}

/** One run of node `home`, read there and on both others: again by its POST, and by its events. */
async function followed(all: NodeGroup, calls: Calls, home: number, name: string, tokens: number) {
  const body = { usageRequestId: name, message: 'Speak.' };
  const { reader: near, runId } = await admitted(all.api(home).complete(body));
  const replay = await admitted(all.api(home + 1).complete(body));
  expectEqual('the run that is replayed on another node', replay.runId, runId);
  const events = await within('head of a stream', WAIT_MS, all.api(home + 2).events(runId, 0));
  const [here, ...far] = [near, replay.reader, events].map((reader) => new StampedReader(reader));
  if (here === undefined) throw new Error('There is no near reader.');
  const call = await calls.of(runId);
  for (let i = 0; i < tokens; i += 1) {
    await call.text(`${name} ${i}; `);
    await sleep(TOKEN_MS);
  }
  await call.end();
  const whole = await within('end of all streams', WAIT_MS, Promise.all([here, ...far].map(({ over }) => over)));
  expectNumber('streams that came whole', whole.filter(Boolean).length, NODES);
  const bytes = withoutComments(near.text);
  for (const { reader } of far) {
    expectNumber('streams equal to that of the node that runs it', Number(withoutComments(reader.text) === bytes), 1);
  }
  const delays = far.flatMap(({ arrivals }) => [...arrivals].map(([id, at]) => at - (here.arrivals.get(id) ?? at)));
  return { frames: here.arrivals.size, delays };
}

/** Plain text, read on the node that runs the run and on another. */
async function followedAsText(all: NodeGroup, calls: Calls, home: number, name: string) {
  const body = { apiIntegrationId: 'text', usageRequestId: name };
  const { reader: near, runId } = await admitted(all.api(home).complete(body));
  const { reader: far } = await admitted(all.api(home + 1).complete(body));
  const call = await calls.of(runId);
  for (const word of ['One ', 'two ', 'three.']) await call.text(word);
  await call.end();
  const whole = await within('end of the texts', WAIT_MS, Promise.all([near.over, far.over]));
  expectNumber('texts that came whole', whole.filter(Boolean).length, 2);
  expectEqual('the text on another node', far.text, near.text);
  expectEqual('the text', near.text, 'One two three.');
}

/** A run of node `home` is cancelled on another; how long until 200. */
async function cancelled(all: NodeGroup, calls: Calls, home: number, place: number): Promise<number> {
  const { reader, runId } = await admitted(all.api(home).complete({}));
  const call = await calls.of(runId);
  await call.text('Half a word');
  await within('text of a run', WAIT_MS, reader.untilText('Half a word'));
  const before = performance.now();
  const answer = await all.api(home + place).post(`/v2/integrations/demo/runs/${runId}/cancel`);
  const took = performance.now() - before;
  expectEqual('answer to a cancel on another node', [answer.status, answer.body.status], [200, 'cancelled']);
  await within('close of the call', WAIT_MS, call.closed);
  expectNumber('cancelled streams that came whole', Number(await within('end', WAIT_MS, reader.over)), 1);
  return took;
}

async function measure(fault: string | null, size: Size, dropHints: boolean) {
  await using model = await ModelController.start();
  const calls = new Calls(model);
  await using all = await startNodes(NODES, fault, { controllerPort: model.port, dropHints });
  const made = await all.api(0).post('/v2/integrations', { apiIntegrationId: 'text', textOnly: true });
  expectNumber('status of the integration', made.status, 201);
  const homes = Array.from({ length: NODES }, (_, home) => home);
  const runs = homes.flatMap((home) =>
    Array.from({ length: size.runs }, (_, i) => followed(all, calls, home, `run-${home}-${i}`, size.tokens)),
  );
  const read = await Promise.all(runs);
  await Promise.all(homes.map((home) => followedAsText(all, calls, home, `text-${home}`)));
  const cancels: number[] = [];
  for (let i = 0; i < size.cancels; i += 1) {
    for (const home of homes) for (const place of [1, 2]) cancels.push(await cancelled(all, calls, home, place));
  }
  const delays = read.flatMap((run) => run.delays);
  return {
    runs: read.length,
    streams: read.length * (NODES - 1),
    frames: read.reduce((sum, run) => sum + run.frames, 0),
    median: quantile(delays, 0.5),
    p99: quantile(delays, 0.99),
    cancels: cancels.length,
    cancelMedian: quantile(cancels, 0.5),
    cancelMax: Math.max(...cancels),
  };
}

export const proof: Proof = {
  name: 'far-reader',
  minutes: 1,
  faults: {
    'skip-chunk': /^streams (that came whole|equal to that of the node that runs it): expected \d, found \d\.$/m,
  },
  figures: (scale) => ({
    nodes: 3,
    runs: scale(3, 30),
    equal_streams: scale(6, 60),
    cancels: scale(6, 60),
    deaf_equal_streams: scale(6, 60),
  }),
  async run({ fault, scale }) {
    const short = scale(true, false);
    const lenience = short ? SHORT_LENIENCE : 1;
    const heard = await measure(
      fault,
      short ? { runs: 1, tokens: 40, cancels: 1 } : { runs: 10, tokens: 200, cancels: 10 },
      false,
    );
    expectAtMost('median delay on another node in ms', rounded(heard.median), MEDIAN_MS * lenience);
    expectAtMost('median time of a cancel on another node in ms', rounded(heard.cancelMedian), MEDIAN_MS * lenience);
    const deaf = await measure(
      fault,
      short ? { runs: 1, tokens: 40, cancels: 1 } : { runs: 10, tokens: 200, cancels: 3 },
      true,
    );
    expectAtMost('median delay without hints in ms', rounded(deaf.median), DEAF_MEDIAN_MS * lenience);
    return {
      nodes: NODES,
      runs: heard.runs,
      equal_streams: heard.streams,
      frames: heard.frames,
      median_ms: rounded(heard.median),
      p99_ms: rounded(heard.p99),
      cancels: heard.cancels,
      cancel_median_ms: rounded(heard.cancelMedian),
      cancel_max_ms: rounded(heard.cancelMax),
      deaf_equal_streams: deaf.streams,
      deaf_median_ms: rounded(deaf.median),
      deaf_p99_ms: rounded(deaf.p99),
      deaf_cancel_median_ms: rounded(deaf.cancelMedian),
      deaf_cancel_max_ms: rounded(deaf.cancelMax),
    };
  },
};
