import { test } from 'node:test';
import { type ModelCall, parseFrames, Rig, type StreamReader } from '@runwire/test-kit';
import { count, plantedFault, scale } from '@runwire/test-kit/scale.ts';
import { addTo, expectAtLeast, expectEqual, Shortfall, WAIT_MS, within } from '@runwire/test-kit/shortfall.ts';
import { keptFrames } from '@runwire/test-kit/stream-clients.ts';
import { arrives } from './support/readers.ts';

/*
 * Cuts a reader after n frames, for every n from 0. The reader reconnects with its last frame's id: once by GET of the
 * run's events, and once by sending its request again. Both parts together must be, byte for byte, a reader's stream
 * that was never cut. This is checked for a stored run, for an active run, and after a crash.
 */

const INTEGRATION = 'cut';
const NEVER_MS = 3_600_000;

/** The output of the two calls of the model. The second call is made with the tool's output. */
const SCRIPT = [
  [
    ['reasoning', 'Erst '],
    ['reasoning', 'nachsehen.\n\n'],
    ['text', 'Grüße '],
    ['text', 'aus 東京\n\ndata: keine Zeile\r\n'],
    ['text', '🙂\u2028"\\'],
    ['tool', '{"q":"größer\\n"}'],
  ],
  [
    ['text', 'Das Echo: '],
    ['text', '\n\n'],
    ['text', '日本'],
    ['reasoning', 'Genug.'],
    ['text', 'Ende 🏁'],
  ],
] as const;
/** Moments at which the model can be held: before each piece and before the end of each call. */
const MOMENTS = SCRIPT.flat().length + SCRIPT.length;

/** Sends a piece; returns a part of the last frame that it causes. */
async function say(call: ModelCall, [kind, piece]: readonly ['reasoning' | 'text' | 'tool', string]): Promise<string> {
  if (kind !== 'tool') await call[kind](piece);
  else await call.toolCall('call_1', 'echo', piece);
  const json = JSON.stringify(piece);
  return kind === 'tool' ? `"arguments":${json},"status":"completed"` : `"delta":${json},`;
}

const isEnd = (frame: string | undefined) => frame?.includes('event: end\n') === true;

/** What a reader can have seen: the first n frames, for every n from 0. */
const prefixes = (frames: readonly string[]) => ['', ...frames].map((_, count) => frames.slice(0, count));

/** A reader that continues after the frames that it saw before. */
interface ResumedReader {
  readonly what: string;
  readonly seen: readonly string[];
  readonly reader: StreamReader;
}

/** Starts a run; returns its reader that is never cut, and the ways to read it again. */
async function openRun(rig: Rig, usageRequestId: string) {
  const body = { apiIntegrationId: INTEGRATION, message: 'Sag etwas.', usageRequestId };
  const api = () => rig.servers.at(-1)?.api ?? rig.api();
  const uncut = await api().complete(body);
  expectEqual('status of the request', uncut.status, 200);
  const runId = String(uncut.headers['x-run-id']);
  const byGet = (after: number | null) => api().events(runId, after, INTEGRATION);
  const byPost = (after: number | null) =>
    api().complete(body, after === null ? {} : { 'last-event-id': String(after) });

  /** Asks in every way for what follows the frames that a reader saw. */
  const resume = async (seen: readonly string[]): Promise<ResumedReader[]> => {
    const after = parseFrames(seen.at(-1) ?? '')[0]?.id ?? null;
    const hasEnded = isEnd(seen.at(-1));
    // After `end` there is nothing to resume, and a POST ignores a cursor that it cannot use.
    const ways = after === null ? ['GET', 'POST', 'GET from id 0'] : hasEnded ? ['GET'] : ['GET', 'POST'];
    const all: ResumedReader[] = [];
    for (const way of ways) {
      const what = `a reader cut after ${seen.length} frames and resumed by ${way}`;
      const reader = await (way === 'POST' ? byPost(after) : byGet(way === 'GET' ? after : 0));
      expectEqual(`${what}: status`, reader.status, hasEnded ? 204 : 200);
      all.push({ what, seen, reader });
    }
    return all;
  };

  /** Plays the script until `onHeld` returns false: each piece is sent after the uncut reader has the one before. */
  const play = async (onHeld: (moment: number) => Promise<boolean> = async () => true): Promise<void> => {
    const isLast = (part: string) =>
      arrives(`a frame with ${part}`, uncut, ({ text }) => keptFrames(text).at(-1)?.includes(part) === true);
    let moment = 0;
    for (const pieces of SCRIPT) {
      const call = await within('call of the model', WAIT_MS, rig.model.nextCall());
      await isLast('"response.created"');
      for (const piece of [...pieces, null]) {
        if (!(await onHeld(moment))) return;
        moment += 1;
        if (piece === null) await call.end();
        else await isLast(await say(call, piece));
      }
    }
    await within('end of the run', WAIT_MS, uncut.over);
  };

  const expectRunning = async (when: string): Promise<void> => {
    const { body: run } = await api().get(`/v2/integrations/${INTEGRATION}/runs/${runId}`);
    // Before its first flush a run is `admitted`.
    expectEqual(`the run continues ${when}`, ['running', 'admitted'].includes(run.status), true);
  };
  return { uncut, frames: () => keptFrames(uncut.text), byGet, byPost, resume, play, expectRunning };
}

/** Every resumed reader has, with what it saw before, exactly the expected frames. */
async function countEqual(resumed: readonly ResumedReader[], expected: readonly string[]): Promise<number> {
  for (const { what, seen, reader } of resumed) {
    await within(`${what}: the end of the stream`, WAIT_MS, reader.over);
    const found = keptFrames(seen.join(''), reader.text);
    const at = Array.from({ length: Math.max(found.length, expected.length) }).findIndex(
      (_, i) => found[i] !== expected[i],
    );
    if (at === -1) continue;
    const [wanted, got] = [expected, found].map((frames) => frames[at]?.slice(0, 200) ?? 'nothing');
    throw new Shortfall(`${what}: expected \`${wanted}\` next, found \`${got}\`.`);
  }
  return resumed.length;
}

async function start(fault: string | null, limits: Readonly<Record<string, number>>): Promise<Rig> {
  const rig = await Rig.start({ fault, limits });
  await rig.prepare({ apiIntegrationId: INTEGRATION, agency: 'test', defaultAgent: 'Clerk' });
  return rig;
}

/** Cuts of a run that has ended. */
async function cutStored(rig: Rig) {
  const run = await openRun(rig, 'stored');
  await run.play();
  const frames = run.frames();
  expectEqual('the last frame is `end`', isEnd(frames.at(-1)), true);
  let equal = 0;
  for (const seen of prefixes(frames)) equal += await countEqual(await run.resume(seen), frames);
  return { frames: frames.length, equal };
}

/** Cuts of a run that is held after each piece: its readers resume before the model continues. */
async function cutLive(rig: Rig, total: number) {
  const run = await openRun(rig, 'live');
  const readers: StreamReader[] = [];
  for (let i = 0; i <= total; i += 1) readers.push(await (i % 2 === 0 ? run.byGet(null) : run.byPost(null)));
  const resumed: ResumedReader[] = [];
  let next = 0;
  const cutUpTo = async (count: number) => {
    for (; next <= count; next += 1) {
      const reader = readers[next] as StreamReader;
      await arrives(`frame ${next}`, reader, ({ text }) => keptFrames(text).length >= next);
      reader.cut();
      resumed.push(...(await run.resume(keptFrames(reader.text).slice(0, next))));
    }
  };
  await run.play(async () => {
    await cutUpTo(run.frames().length);
    await run.expectRunning('while its readers resume');
    return true;
  });
  const running = next;
  expectEqual('frames of the same script', run.frames().length, total);
  await cutUpTo(total);
  return { running, equal: await countEqual(resumed, run.frames()) };
}

/**
 * The server is killed; what a reader saw after the last finished step is void. Readers resume after the next start while
 * the model is held, and again after the run has ended.
 */
async function cutByCrash(fault: string | null, moment: number) {
  await using rig = await start(fault, { flushMs: NEVER_MS });
  const run = await openRun(rig, 'crash');
  await run.play(async (held) => held < moment);
  const seen = run.frames();
  await rig.server().kill();
  await rig.add();
  await within('the cut by the crash', WAIT_MS, run.uncut.over);
  const replay = await run.byGet(null);
  const resumeAll = async () => (await Array.fromAsync(prefixes(seen), run.resume)).flat();
  const live = await resumeAll();
  await run.expectRunning('after the crash');
  rig.model.answerAll('Nochmal: ', 'Grüße 🏁');
  await within('the replay', WAIT_MS, replay.over);
  const frames = keptFrames(replay.text);
  expectEqual('the last frame is `end`', isEnd(frames.at(-1)), true);
  expectEqual('the run completed', replay.text.includes('"status":"completed","new_messages"'), true);
  const equal = (await countEqual(live, frames)) + (await countEqual(await resumeAll(), frames));
  return { crash_cuts: 2 * (seen.length + 1), void_frames: seen.filter((one) => !frames.includes(one)).length, equal };
}

test('a reader that is cut anywhere gets exactly what it missed', async () => {
  const fault = plantedFault();
  const cuts = { stored_cuts: 0, live_cuts: 0, resumed_running: 0, crash_cuts: 0, void_frames: 0, equal: 0 };
  let frames = 0;
  // With the whole run in memory, and with only what is not stored yet: then readers change from the store to memory.
  for (const limits of [{}, { flushMs: 1, heldBytes: 0 }]) {
    await using rig = await start(fault, limits);
    const stored = await cutStored(rig);
    const live = await cutLive(rig, stored.frames);
    ({ frames } = stored);
    const both = { stored_cuts: frames + 1, live_cuts: frames + 1, resumed_running: live.running };
    addTo(cuts, { ...both, equal: stored.equal + live.equal });
  }
  const moments = scale([MOMENTS - 3], [...Array(MOMENTS).keys()]);
  for (const moment of moments) addTo(cuts, await cutByCrash(fault, moment));
  expectAtLeast('frames', frames, 40);
  // The model's last piece, `messages` and `end` are nine frames, at which the run cannot be held.
  expectAtLeast('cuts resumed while the run was running', cuts.resumed_running, cuts.live_cuts - 2 * 9);
  expectAtLeast('frames void after the crash', cuts.void_frames, 1);
  count({ frames, ...cuts });
});
