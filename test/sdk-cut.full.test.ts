import { test } from 'node:test';
import { Rig, TEST_API_KEY } from '@runwire/test-kit';
import { type Disturbance, DisturbingRelay } from '@runwire/test-kit/disturbing-relay.ts';
import { count, plantedFault, scale } from '@runwire/test-kit/scale.ts';
import { expectAtLeast, expectEqual, Shortfall, WAIT_MS, within } from '@runwire/test-kit/shortfall.ts';
import { inLanes } from './support/lanes.ts';
import { Python } from './support/python.ts';
import { type RunReader, runReaders } from './support/run-readers.ts';
import { missingService } from './support/services.ts';

/*
 * Each client starts a run of three steps through a relay that cuts its first connection after n bytes of the
 * answer, or of the request, for every n from 0. The client must put the same run together each time: every event once, in
 * order, byte for byte as the server stores them. The run is started once.
 */

const INTEGRATION = 'sdk-cut';
const TEXT = 'Let me see. 日本 🙂\n\nDone.';
const LANES = 8;
/** The sizes of chunks, and so the number of bytes on the wire, depend on the moments at which events are sent. */
const VARIATION = 0.98;

/** A model that calls a tool, and answers after it. */
function playModel({ model }: Rig): void {
  model.onCall = async (call) => {
    const isFirst = call.request.prompt.every(({ kind }) => kind !== 'tool_output');
    for (const piece of isFirst ? ['Let me ', 'see. 日本'] : [' 🙂\n', '\nDone.']) await call.text(piece);
    if (isFirst) await call.toolCall('call_1', 'echo', '{"q":"größer"}');
    await call.end();
  };
}

interface ReadRun {
  readonly requestBytes: number;
  readonly answerBytes: number;
  readonly isCut: boolean;
}

/** Runs once through a relay of its own, and compares what the client read with what the server stores. */
async function runThrough(
  rig: Rig,
  read: RunReader,
  id: string,
  { disturbance, fault }: { readonly disturbance: Disturbance | null; readonly fault: string | null },
): Promise<ReadRun> {
  const { api, url } = rig.server();
  const plan = [disturbance];
  await using relay = await DisturbingRelay.start(
    () => Number(new URL(url).port),
    () => plan.shift() ?? null,
  );
  const job = { url: relay.url, key: TEST_API_KEY, integration: INTEGRATION, id, isLate: fault === 'resume-one-late' };
  const { runId, frames, ...end } = await within('the end of the run', WAIT_MS, read(job));
  const stored = await api.events(runId, 0, INTEGRATION);
  await within('the stored events', WAIT_MS, stored.over);
  const wanted = stored.frames.map(({ id: eventId, event, data }) => ({ id: eventId, event: event ?? null, data }));
  const at = wanted.findIndex((frame, index) => JSON.stringify(frame) !== JSON.stringify(frames[index]));
  if (at !== -1 || frames.length !== wanted.length) {
    throw new Shortfall(
      `event ${at + 1} of ${wanted.length}: the client read ${JSON.stringify(frames[at])?.slice(0, 200)}`,
    );
  }
  expectEqual('end of the run', end, { status: 'completed', text: TEXT, currentText: TEXT });
  const calls = rig.model.calls.filter(({ request }) => request.runId === runId);
  expectEqual('calls of the model', calls.length, 2);
  return { ...relay.last, isCut: relay.done.length > 0 };
}

const NAMES = ['typescript', 'python', 'asyncio'] as const;
const NONE = { typescript: 0, python: 0, asyncio: 0 };

test('our clients continue a stream that is cut anywhere', async (t) => {
  const fault = plantedFault();
  const missing = await missingService('python');
  if (missing !== null) return t.skip(missing);
  await using rig = await Rig.start();
  await rig.prepare({ apiIntegrationId: INTEGRATION, agency: 'test', defaultAgent: 'Clerk' });
  playModel(rig);
  using python = Python.start();
  const readers = runReaders(python);
  const every = scale(61, 1);
  const cuts = { answer: 0, request: 0 };
  const unequal = { ...NONE };
  let number = 0;
  let equal = 0;
  for (const name of NAMES) {
    const read = readers[name];
    const whole = await runThrough(rig, read, `${name}-whole`, { disturbance: null, fault: null });
    expectAtLeast('bytes of the answer', whole.answerBytes, 5000);
    expectAtLeast('bytes of the request', whole.requestBytes, 200);
    const cases = (['answer', 'request'] as const).flatMap((side) =>
      Array.from({ length: Math.ceil(whole[`${side}Bytes`] / every) }, (_, index) => {
        const bytes = index * every;
        return [`${name} cut after ${bytes} bytes of the ${side}`, { side, bytes }] as const;
      }),
    );
    number += 1 + cases.length;
    await inLanes(LANES, cases, async ({ side, bytes }) => {
      const disturbance = { kind: `cut-${side}`, bytes } as const;
      try {
        const { isCut } = await runThrough(rig, read, `${name}-${side}-${bytes}`, { disturbance, fault });
        cuts[side] += Number(isCut);
        equal += 1;
      } catch (error) {
        // The fault must show in every client.
        if (fault === null || !(error instanceof Shortfall)) throw error;
        unequal[name] += 1;
      }
    });
  }
  expectEqual('unequal', unequal, NONE);
  expectEqual('runs', await rig.counter('runwire_runs_ended_total'), number);
  expectAtLeast('cuts', cuts.answer + cuts.request, Math.floor(VARIATION * equal));
  count({ ...cuts, equal });
});
