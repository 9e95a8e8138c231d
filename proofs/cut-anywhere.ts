import { type ModelCall, parseFrames, type StreamReader, withoutComments } from '@runwire/test-kit';
import { keptFrames } from '../packages/test-kit/src/stream-clients.ts';
import { expectAtLeast, expectEqual, expectNumber, type Proof, Shortfall, within } from './support/proof.ts';
import { Rig } from './support/rig.ts';

/*
 * Cuts a reader after n frames, for every n from 0. The reader reconnects with the id of its last frame: once by GET of the
 * run's events, and once by sending its request again. Both parts together must be, byte for byte, the stream of a reader
 * that was never cut. This is checked for a stored run, for an active run, and after a crash.
 */

const INTEGRATION = 'cut';
const WAIT_MS = 30_000;
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
const MOMENTS = SCRIPT.reduce((sum, pieces) => sum + pieces.length + 1, 0);

/** Sends a piece; returns a part of the last frame that it causes. */
async function say(call: ModelCall, [kind, piece]: readonly ['reasoning' | 'text' | 'tool', string]): Promise<string> {
  if (kind === 'tool') await call.toolCall('call_1', 'echo', piece);
  else await call[kind](piece);
  return kind === 'tool'
    ? `"arguments":${JSON.stringify(piece)},"status":"completed"`
    : `"delta":${JSON.stringify(piece)},`;
}

const idAfter = (seen: readonly string[]) =>
  seen.length === 0 ? null : (parseFrames(seen.at(-1) ?? '')[0]?.id ?? null);
const isEnd = (frame: string | undefined) => frame?.includes('event: end\n') === true;

interface ResumedReader {
  readonly what: string;
  readonly seen: readonly string[];
  readonly reader: StreamReader;
}

/** One request and its run. */
class Reading {
  readonly rig: Rig;
  readonly uncut: StreamReader;
  readonly runId: string;
  readonly #body: { readonly usageRequestId: string };

  private constructor(rig: Rig, body: { readonly usageRequestId: string }, uncut: StreamReader) {
    this.rig = rig;
    this.#body = body;
    this.uncut = uncut;
    this.runId = String(uncut.headers['x-run-id']);
  }

  static async start(rig: Rig, usageRequestId: string): Promise<Reading> {
    const body = { apiIntegrationId: INTEGRATION, message: 'Sag etwas.', usageRequestId };
    const uncut = await rig.api().complete(body);
    expectNumber('status of the request', uncut.status, 200);
    return new Reading(rig, body, uncut);
  }

  get #api() {
    return this.rig.servers.at(-1)?.api ?? this.rig.api();
  }
  byGet = (after: number | null) => this.#api.events(this.runId, after, INTEGRATION);
  byPost = (after: number | null) =>
    this.#api.complete(this.#body, after === null ? {} : { 'last-event-id': String(after) });

  async expectRunning(when: string): Promise<void> {
    const { body } = await this.#api.get(`/v2/integrations/${INTEGRATION}/runs/${this.runId}`);
    // Before its first flush a run is `admitted`.
    expectEqual(`the run continues ${when}`, ['running', 'admitted'].includes(body.status), true);
  }

  /**
   * Plays the script until `onHeld` returns false: each piece is sent after the uncut reader has received the previous
   * one.
   */
  async play(onHeld: (moment: number) => Promise<boolean> = async () => true): Promise<void> {
    const arrives = (part: string) => {
      const isLast = () => keptFrames(this.uncut.text).at(-1)?.includes(part) === true;
      return within(`a frame with ${part}`, WAIT_MS, this.uncut.until(isLast));
    };
    let moment = -1;
    const mayContinue = () => {
      moment += 1;
      return onHeld(moment);
    };
    for (const pieces of SCRIPT) {
      const call = await within('call of the model', WAIT_MS, this.rig.model.nextCall());
      await arrives('"response.created"');
      for (const piece of pieces) {
        if (!(await mayContinue())) return;
        await arrives(await say(call, piece));
      }
      if (!(await mayContinue())) return;
      await call.end();
    }
    await within('end of the run', WAIT_MS, this.uncut.over);
  }

  /** Cuts a reader that has seen so many frames. */
  async cut(reader: StreamReader, count: number): Promise<ResumedReader[]> {
    const seen = () => keptFrames(reader.text);
    await within(
      `frame ${count}`,
      WAIT_MS,
      reader.until(() => seen().length >= count),
    );
    const frames = seen().slice(0, count);
    reader.cut();
    return this.resume(frames);
  }

  /** Asks for the rest in every way. */
  async resume(seen: readonly string[]): Promise<ResumedReader[]> {
    const after = idAfter(seen);
    const what = `a reader cut after ${seen.length} frames and resumed`;
    const all = [{ what: `${what} by GET`, seen, reader: await this.byGet(after) }];
    // After `end` there is nothing to resume, and a POST ignores a cursor that it cannot use.
    if (!isEnd(seen.at(-1))) all.push({ what: `${what} by POST`, seen, reader: await this.byPost(after) });
    if (seen.length === 0) all.push({ what: `${what} from id 0`, seen, reader: await this.byGet(0) });
    for (const { what, reader } of all) expectNumber(`${what}: status`, reader.status, isEnd(seen.at(-1)) ? 204 : 200);
    return all;
  }
}

/** Every resumed reader has, with what it saw before, exactly the expected frames. */
async function countEqual(resumed: readonly ResumedReader[], expected: readonly string[]): Promise<number> {
  for (const { what, seen, reader } of resumed) {
    await within(`${what}: the end of the stream`, WAIT_MS, reader.over);
    const found = keptFrames(seen.join(''), reader.text);
    const at = expected.findIndex((frame, index) => frame !== found[index]);
    if (at === -1 && found.length === expected.length) continue;
    const [wanted, got] = [expected, found].map(
      (all) => all[at === -1 ? expected.length : at]?.slice(0, 200) ?? 'nothing',
    );
    throw new Shortfall(`${what}: expected \`${wanted}\` next, found \`${got}\`.`);
  }
  return resumed.length;
}

const start = async (fault: string | null, limits: Readonly<Record<string, number>>) => {
  const rig = await Rig.start({ fault, limits });
  await rig.prepare({ apiIntegrationId: INTEGRATION, agency: 'test', defaultAgent: 'Clerk' });
  return rig;
};

/** Cuts of a run that has ended. */
async function cutStored(rig: Rig) {
  const reading = await Reading.start(rig, 'stored');
  await reading.play();
  const frames = keptFrames(reading.uncut.text);
  expectEqual('the last frame is `end`', isEnd(frames.at(-1)), true);
  let equal = 0;
  for (let count = 0; count <= frames.length; count += 1) {
    equal += await countEqual(await reading.cut(await reading.byGet(null), count), frames);
  }
  return { frames: frames.length, equal };
}

/** Cuts of a run that is held after each piece: its readers resume before the model continues. */
async function cutLive(rig: Rig, total: number) {
  const reading = await Reading.start(rig, 'live');
  const readers: StreamReader[] = [];
  for (let i = 0; i <= total; i += 1) readers.push(await (i % 2 === 0 ? reading.byGet(null) : reading.byPost(null)));
  const resumed: ResumedReader[] = [];
  let next = 0;
  const cutUpTo = async (frames: number) => {
    const due = readers.slice(next, frames + 1);
    resumed.push(...(await Promise.all(due.map((reader, index) => reading.cut(reader, next + index)))).flat());
    next += due.length;
  };
  await reading.play(async () => {
    await cutUpTo(keptFrames(reading.uncut.text).length);
    await reading.expectRunning('while its readers resume');
    return true;
  });
  const running = next;
  const frames = keptFrames(reading.uncut.text);
  expectNumber('frames of the same script', frames.length, total);
  await cutUpTo(total);
  return { running, equal: await countEqual(resumed, frames) };
}

/**
 * The server is killed; what a reader saw after the last finished step is void. Readers resume after the next start while
 * the model is held, and again after the run has ended.
 */
async function cutByCrash(fault: string | null, moment: number) {
  await using rig = await start(fault, { flushMs: NEVER_MS });
  const reading = await Reading.start(rig, 'crash');
  await reading.play(async (held) => held < moment);
  const seen = keptFrames(reading.uncut.text);
  await rig.server().kill();
  await rig.add();
  await within('the cut by the crash', WAIT_MS, reading.uncut.over);
  const replay = await reading.byGet(null);
  const resumeAll = async () => {
    const all: ResumedReader[] = [];
    for (let count = 0; count <= seen.length; count += 1) all.push(...(await reading.resume(seen.slice(0, count))));
    return all;
  };
  const live = await resumeAll();
  await reading.expectRunning('after the crash');
  rig.model.answerAll('Nochmal: ', 'Grüße 🏁');
  await within('the replay', WAIT_MS, replay.over);
  const frames = keptFrames(replay.text);
  expectEqual('the last frame is `end`', isEnd(frames.at(-1)), true);
  expectEqual('the run completed', withoutComments(replay.text).includes('"status":"completed","new_messages"'), true);
  const equal = (await countEqual(live, frames)) + (await countEqual(await resumeAll(), frames));
  return { cuts: 2 * (seen.length + 1), equal, void: seen.filter((frame) => !frames.includes(frame)).length };
}

export const proof: Proof = {
  name: 'cut-anywhere',
  minutes: 1.2,
  faults: {
    'skip-events': /^a reader cut after \d+ frames and resumed [^:]+: expected `[^`]*` next, found `/m,
  },
  async run({ fault, scale }) {
    const figures = {
      frames: 0,
      stored_cuts: 0,
      live_cuts: 0,
      resumed_running: 0,
      crash_cuts: 0,
      void_frames: 0,
      equal: 0,
    };
    // With the whole run in memory, and with only what is not stored yet: then readers change from the store to memory.
    for (const limits of [{}, { flushMs: 1, heldBytes: 0 }]) {
      await using rig = await start(fault, limits);
      const stored = await cutStored(rig);
      const live = await cutLive(rig, stored.frames);
      figures.frames = stored.frames;
      figures.stored_cuts += stored.frames + 1;
      figures.live_cuts += stored.frames + 1;
      figures.resumed_running += live.running;
      figures.equal += stored.equal + live.equal;
    }
    for (const moment of scale([MOMENTS - 3], [...Array(MOMENTS).keys()])) {
      const crash = await cutByCrash(fault, moment);
      figures.crash_cuts += crash.cuts;
      figures.void_frames += crash.void;
      figures.equal += crash.equal;
    }
    expectAtLeast('frames', figures.frames, 40);
    // The model's last piece, `messages` and `end` are nine frames, at which the run cannot be held.
    expectAtLeast('cuts resumed while the run was running', figures.resumed_running, figures.live_cuts - 2 * 9);
    expectAtLeast('frames void after the crash', figures.void_frames, 1);
    return figures;
  },
};
