import { type RunResult, Runwire } from '@runwire/client';
import { TEST_API_KEY } from '@runwire/test-kit';
import { type Disturbance, DisturbingRelay } from '@runwire/test-kit/disturbing-relay.ts';
import { expectAtLeast, expectEqual, Shortfall, WAIT_MS, within } from '@runwire/test-kit/shortfall.ts';
import { inLanes } from './support/lanes.ts';
import type { Proof } from './support/proof.ts';
import { Rig } from './support/rig.ts';

/*
 * The TypeScript client starts a run of three steps through a relay that cuts its first connection after n bytes of the
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

/** Resumes one event late. */
const resumeOneLate: typeof fetch = (input, init = {}) => {
  const headers = new Headers(init.headers);
  const last = headers.get('last-event-id');
  if (last !== null) headers.set('last-event-id', String(Number(last) + 1));
  return fetch(input, { ...init, headers });
};

interface ReadRun {
  readonly result: RunResult;
  readonly requestBytes: number;
  readonly answerBytes: number;
  readonly isCut: boolean;
}

/** Runs once through a relay of its own, and compares what the client read with what the server stores. */
async function runThrough(
  rig: Rig,
  id: string,
  disturbance: Disturbance | null,
  fault: string | null,
): Promise<ReadRun> {
  const { api, url } = rig.server();
  const plan = [disturbance];
  await using relay = await DisturbingRelay.start(
    () => Number(new URL(url).port),
    () => plan.shift() ?? null,
  );
  const client = new Runwire({
    ...{
      baseUrl: relay.url,
      apiKey: TEST_API_KEY,
      integration: INTEGRATION,
      timing: { minPauseMs: 1, maxPauseMs: 50 },
    },
    ...(fault === 'resume-one-late' ? { fetch: resumeOneLate } : {}),
  });
  const run = client.run({ message: 'Look it up.', usageRequestId: id });
  const result = await within('the end of the run', WAIT_MS, run.result());
  const frames = await Array.fromAsync(run.frames());
  const stored = await api.events(result.runId, 0, INTEGRATION);
  await within('the stored events', WAIT_MS, stored.over);
  const wanted = stored.frames.map(({ id: eventId, event, data }) => ({ id: eventId, event: event ?? null, data }));
  const at = wanted.findIndex((frame, index) => JSON.stringify(frame) !== JSON.stringify(frames[index]));
  if (at !== -1 || frames.length !== wanted.length) {
    throw new Shortfall(
      `event ${at + 1} of ${wanted.length}: the client read ${JSON.stringify(frames[at])?.slice(0, 200)}`,
    );
  }
  expectEqual('end of the run', [result.status, result.text, run.currentText], ['completed', TEXT, TEXT]);
  const calls = rig.model.calls.filter(({ request }) => request.runId === result.runId);
  expectEqual('calls of the model', calls.length, 2);
  return { result, ...relay.last, isCut: relay.done.length > 0 };
}

export const proof: Proof = {
  name: 'sdk-cut',
  minutes: 6,
  faults: {
    'resume-one-late': /^cut after \d+ bytes of the answer: event \d+ of \d+: the client read /m,
  },
  async run({ fault, scale }) {
    await using rig = await Rig.start();
    await rig.prepare({ apiIntegrationId: INTEGRATION, agency: 'test', defaultAgent: 'Clerk' });
    playModel(rig);
    const whole = await runThrough(rig, 'sdk-cut-00000', null, null);
    expectAtLeast('bytes of the answer', whole.answerBytes, 5000);
    expectAtLeast('bytes of the request', whole.requestBytes, 200);
    const every = scale(61, 1);
    const cases = (['answer', 'request'] as const).flatMap((side) => {
      const bytes = whole[`${side}Bytes`];
      const cuts = Array.from({ length: Math.ceil(bytes / every) }, (_, index) => index * every);
      return cuts.map((n) => [`cut after ${n} bytes of the ${side}`, { side, n }] as const);
    });
    const counts = { answer: 0, request: 0 };
    let number = 0;
    await inLanes(LANES, cases, async ({ side, n }) => {
      number += 1;
      const id = `sdk-cut-${String(number).padStart(5, '0')}`;
      const { isCut } = await runThrough(rig, id, { kind: `cut-${side}`, bytes: n }, fault);
      counts[side] += Number(isCut);
    });
    const runs = await rig.counter('runwire_runs_ended_total');
    expectEqual('runs', runs, cases.length + 1);
    expectAtLeast('cuts', counts.answer + counts.request, Math.floor(VARIATION * cases.length));
    return { answer_bytes: whole.answerBytes, request_bytes: whole.requestBytes, ...counts, equal: cases.length };
  },
};
