import { rmSync } from 'node:fs';
import {
  type ApiClient,
  type ModelCall,
  ModelController,
  parseFrames,
  type ServerProcess,
  type StreamReader,
  temporaryFolder,
  withoutComments,
} from '@runwire/test-kit';
import { expectAtLeast, expectEqual, expectNumber, type Proof, Shortfall, within } from './support/proof.ts';
import { startServer } from './support/start-server.ts';

/*
 * A reader is cut after every number of frames, none included, and asks again with the id of the last frame it saw, by
 * GET of the run's events and by sending its request again. What it saw before and after, put together, is byte for
 * byte the stream of a reader that was never cut: from the stored log, from a run under way, and after a crash.
 */

const INTEGRATION = 'cut';
const PATIENCE_MS = 30_000;
const NEVER_MS = 3_600_000;

/** One thing that the model says, and what the last frame that comes of it holds. */
interface Saying {
  say(call: ModelCall): Promise<void>;
  readonly lastFrame: string;
}

const text = (piece: string): Saying => ({
  say: (call) => call.text(piece),
  lastFrame: `"delta":${JSON.stringify(piece)},`,
});
const reasoning = (piece: string): Saying => ({ ...text(piece), say: (call) => call.reasoning(piece) });
const tool = (argumentsText: string): Saying => ({
  say: (call) => call.toolCall('call_1', 'echo', argumentsText),
  lastFrame: `"arguments":${JSON.stringify(argumentsText)},"status":"completed"`,
});

/** Both calls of the model; the second is made with the tool's output. */
const SAYINGS: readonly (readonly Saying[])[] = [
  [
    reasoning('Erst '),
    reasoning('nachsehen.\n\n'),
    text('Grüße '),
    text('aus 東京\n\ndata: keine Zeile\r\n'),
    text('🙂\u2028"\\'),
    tool('{"q":"größer\\n"}'),
  ],
  [text('Das Echo: '), text('\n\n'), text('日本'), reasoning('Genug.'), text('Ende 🏁')],
];

/** The frames that came whole, as their bytes stand. */
function framesOf(bytes: string): string[] {
  const whole = bytes.slice(0, bytes.lastIndexOf('\n\n') + 2);
  return withoutComments(whole).split(/(?<=\n\n)/);
}

function idOf(frames: readonly string[]): number | null {
  const last = frames.at(-1);
  return last === undefined ? null : (parseFrames(last)[0]?.id ?? null);
}

class Rig implements AsyncDisposable {
  readonly #fault: string | null;
  readonly #dataDir: string;
  readonly controller: ModelController;
  readonly #limits: Readonly<Record<string, number>>;
  server: ServerProcess;

  private constructor(
    fault: string | null,
    limits: Readonly<Record<string, number>>,
    controller: ModelController,
    server: ServerProcess,
    dataDir: string,
  ) {
    this.#fault = fault;
    this.#limits = limits;
    this.controller = controller;
    this.server = server;
    this.#dataDir = dataDir;
  }

  static async start(fault: string | null, limits: Readonly<Record<string, number>> = {}): Promise<Rig> {
    const controller = await ModelController.start();
    const dataDir = temporaryFolder();
    const server = await startServer(fault, { dataDir, limits, controllerPort: controller.port });
    const rig = new Rig(fault, limits, controller, server, dataDir);
    const made = await rig.api.post('/v2/integrations', {
      apiIntegrationId: INTEGRATION,
      name: 'Cut',
      agency: 'test',
      defaultAgent: 'Clerk',
    });
    expectNumber('status of the new integration', made.status, 201);
    return rig;
  }

  get api(): ApiClient {
    return this.server.api;
  }

  async restart(): Promise<void> {
    await this.server.kill('SIGKILL');
    this.server = await startServer(this.#fault, {
      dataDir: this.#dataDir,
      limits: this.#limits,
      controllerPort: this.controller.port,
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.server[Symbol.asyncDispose]();
    await this.controller[Symbol.asyncDispose]();
    rmSync(this.#dataDir, { recursive: true, force: true });
  }
}

/** One request and its run, as any number of readers see it. */
class Reading {
  readonly rig: Rig;
  readonly usageRequestId: string;
  readonly uncut: StreamReader;
  readonly runId: string;

  private constructor(rig: Rig, usageRequestId: string, uncut: StreamReader) {
    this.rig = rig;
    this.usageRequestId = usageRequestId;
    this.uncut = uncut;
    this.runId = String(uncut.headers['x-run-id']);
  }

  static async start(rig: Rig, usageRequestId: string): Promise<Reading> {
    const uncut = await rig.api.complete(Reading.body(usageRequestId));
    expectNumber('status of the request', uncut.status, 200);
    return new Reading(rig, usageRequestId, uncut);
  }

  static body(usageRequestId: string) {
    return { apiIntegrationId: INTEGRATION, message: 'Sag etwas.', usageRequestId };
  }

  byGet(after: number | null): Promise<StreamReader> {
    return this.rig.api.events(this.runId, after, INTEGRATION);
  }

  byPost(after: number | null): Promise<StreamReader> {
    const headers = after === null ? {} : { 'last-event-id': String(after) };
    return this.rig.api.complete(Reading.body(this.usageRequestId), headers);
  }

  /** Before its first flush a run still says `admitted`. */
  async isUnderWay(): Promise<boolean> {
    const { body } = await this.rig.api.get(`/v2/integrations/${INTEGRATION}/runs/${this.runId}`);
    return body.status === 'running' || body.status === 'admitted';
  }

  /** Plays the script in lock-step: nothing is said before what was said last has come to the uncut reader. */
  async play(onHeld: (moment: number) => Promise<boolean>): Promise<void> {
    let moment = 0;
    for (const sayings of SAYINGS) {
      const call = await within('the call of the model', PATIENCE_MS, this.rig.controller.nextCall());
      await this.#came('"response.created"');
      for (const saying of sayings) {
        if (!(await onHeld(moment))) return;
        moment += 1;
        await saying.say(call);
        await this.#came(saying.lastFrame);
      }
      if (!(await onHeld(moment))) return;
      moment += 1;
      await call.end();
    }
    await within('the end of the run', PATIENCE_MS, this.uncut.over);
  }

  #came(lastFrame: string): Promise<void> {
    const isLast = (reader: StreamReader) => framesOf(reader.text).at(-1)?.includes(lastFrame) === true;
    return within(`a frame with ${lastFrame}`, PATIENCE_MS, this.uncut.until(isLast));
  }
}

const MOMENTS = SAYINGS.reduce((sum, sayings) => sum + sayings.length + 1, 0);

interface Resumed {
  readonly what: string;
  readonly seen: readonly string[];
  readonly reader: StreamReader;
}

/** Cuts the reader when it has seen so many frames, and asks for the rest in both ways. */
async function cutAndResume(reading: Reading, reader: StreamReader, count: number): Promise<Resumed[]> {
  const enough = (at: StreamReader) => framesOf(at.text).length >= count;
  if (count > 0) await within(`frame ${count}`, PATIENCE_MS, reader.until(enough));
  const seen = count === 0 ? [] : framesOf(reader.text).slice(0, count);
  reader.cut();
  return resume(reading, seen);
}

async function resume(reading: Reading, seen: readonly string[]): Promise<Resumed[]> {
  const after = idOf(seen);
  const name = `a reader cut after ${seen.length} frames and resumed`;
  const readers: Resumed[] = [{ what: `${name} by GET`, seen, reader: await reading.byGet(after) }];
  // Who saw `end` has nothing to resume: a cursor that cannot be honoured counts as absent there.
  if (seen.at(-1)?.includes('event: end\n') !== true) {
    readers.push({ what: `${name} by POST`, seen, reader: await reading.byPost(after) });
  }
  if (seen.length === 0) readers.push({ what: `${name} from id 0`, seen, reader: await reading.byGet(0) });
  for (const { what, reader } of readers) {
    const isOver = reader.status === 204 && seen.at(-1)?.includes('event: end\n') === true;
    if (reader.status !== 200 && !isOver) throw new Shortfall(`${what}: expected status 200, found ${reader.status}.`);
  }
  return readers;
}

/** The frames that count: what a `resumed` frame declares void is dropped. */
function withoutVoid(frames: readonly string[]): string[] {
  let kept: string[] = [];
  for (const frame of frames) {
    const [parsed] = parseFrames(frame);
    if (parsed?.event === 'resumed') {
      const { discard_after: last } = JSON.parse(parsed.data) as { discard_after: number };
      kept = kept.filter((other) => (idOf([other]) ?? 0) <= last);
    }
    kept.push(frame);
  }
  return kept;
}

/** Counts the resumed readings that are, with what was seen before, byte for byte the expected stream. */
async function countEqual(resumed: readonly Resumed[], expected: string): Promise<number> {
  for (const { what, seen, reader } of resumed) {
    await within(`${what}: the end of the stream`, PATIENCE_MS, reader.over);
    const bytes = withoutComments(reader.text);
    const frames = bytes === '' ? [] : bytes.split(/(?<=\n\n)/);
    const together = withoutVoid([...seen, ...frames]);
    if (together.join('') !== expected) {
      const at = together.findIndex((frame, index) => frame !== framesOf(expected)[index]);
      const found = (at === -1 ? 'nothing more' : together[at])?.slice(0, 200);
      const wanted = (framesOf(expected)[at === -1 ? together.length : at] ?? 'nothing more').slice(0, 200);
      throw new Shortfall(`${what}: expected \`${wanted}\` next, found \`${found}\`.`);
    }
  }
  return resumed.length;
}

interface Cuts {
  readonly frames: number;
  readonly cuts: number;
  readonly equal: number;
}

/** After the end: everything comes from the stored log. */
async function cutStored(rig: Rig): Promise<Cuts> {
  const reading = await Reading.start(rig, 'stored');
  await reading.play(async () => true);
  const whole = withoutComments(reading.uncut.text);
  const frames = framesOf(whole);
  expectEqual('the last frame', frames.at(-1)?.includes('event: end\n'), true);
  let equal = 0;
  for (let count = 0; count <= frames.length; count += 1) {
    equal += await countEqual(await cutAndResume(reading, await reading.byGet(null), count), whole);
  }
  return { frames: frames.length, cuts: frames.length + 1, equal };
}

/**
 * While the run is held after each thing that the model said: whoever has seen all frames so far, or fewer, is cut and
 * resumes before the model goes on. Only the frames that end the run cannot be held.
 */
async function cutLive(rig: Rig, total: number): Promise<Cuts & { readonly whileRunning: number }> {
  const reading = await Reading.start(rig, 'live');
  const readers: StreamReader[] = [];
  for (let count = 0; count <= total; count += 1) {
    readers.push(await (count % 2 === 0 ? reading.byGet(null) : reading.byPost(null)));
  }
  const resumed: Resumed[] = [];
  let next = 0;
  const cutUpTo = async (frames: number) => {
    const due = readers.slice(next, frames + 1);
    const cuts = await Promise.all(due.map((reader, index) => cutAndResume(reading, reader, next + index)));
    resumed.push(...cuts.flat());
    next += due.length;
  };
  await reading.play(async () => {
    await cutUpTo(framesOf(reading.uncut.text).length);
    expectEqual('the run goes on when its readers have resumed', await reading.isUnderWay(), true);
    return true;
  });
  const whileRunning = next;
  const whole = withoutComments(reading.uncut.text);
  expectNumber('frames of the same script', framesOf(whole).length, total);
  await cutUpTo(total);
  return { frames: total, cuts: next, equal: await countEqual(resumed, whole), whileRunning };
}

/**
 * The process dies by SIGKILL; what its reader saw behind the last finished step is void. The run goes on after the
 * next start: readers resume while the model is held, are told what is void, and follow the run to its end; and again
 * when it has ended.
 */
async function cutByCrash(fault: string | null, moment: number): Promise<Cuts & { readonly discarded: number }> {
  await using rig = await Rig.start(fault, { flushMs: NEVER_MS });
  const reading = await Reading.start(rig, 'crash');
  await reading.play(async (held) => held < moment);
  const seen = framesOf(reading.uncut.text);
  await rig.restart();
  await within('the cut by the crash', PATIENCE_MS, reading.uncut.over);
  const replay = await reading.byGet(null);
  const live: Resumed[] = [];
  for (let count = 0; count <= seen.length; count += 1) live.push(...(await resume(reading, seen.slice(0, count))));
  expectEqual('the run goes on after the crash', await reading.isUnderWay(), true);
  rig.controller.answerAll('Nochmal: ', 'Grüße 🏁');
  await within('the replay', PATIENCE_MS, replay.over);
  const whole = withoutComments(replay.text);
  expectEqual('the last frame of the replay', framesOf(whole).at(-1)?.includes('event: end\n'), true);
  expectEqual('the run was completed', whole.includes('"status":"completed","new_messages"'), true);
  const discarded = seen.filter((frame) => !whole.includes(frame)).length;
  let equal = await countEqual(live, whole);
  for (let count = 0; count <= seen.length; count += 1) {
    equal += await countEqual(await resume(reading, seen.slice(0, count)), whole);
  }
  return { frames: framesOf(whole).length, cuts: 2 * (seen.length + 1), equal, discarded };
}

export const proof: Proof = {
  name: 'cut-anywhere',
  minutes: 1.2,
  faults: {
    'skip-events': /^a reader cut after \d+ frames and resumed [^:]+: expected `[^`]*` next, found `/m,
  },
  async run({ fault, scale }) {
    const short = scale(true, false);
    let frames = 0;
    let equal = 0;
    let storedCuts = 0;
    let liveCuts = 0;
    let whileRunning = 0;
    // With all of the run in memory, and again with only what is not stored yet: readers change over from the store.
    for (const limits of [{}, { flushMs: 1, heldBytes: 0 }]) {
      await using rig = await Rig.start(fault, limits);
      const stored = await cutStored(rig);
      const live = await cutLive(rig, stored.frames);
      frames = stored.frames;
      storedCuts += stored.cuts;
      liveCuts += live.cuts;
      whileRunning += live.whileRunning;
      equal += stored.equal + live.equal;
    }
    let crashCuts = 0;
    let discarded = 0;
    const moments = short ? [MOMENTS - 3] : Array.from({ length: MOMENTS }, (_, moment) => moment);
    for (const moment of moments) {
      const crash = await cutByCrash(fault, moment);
      crashCuts += crash.cuts;
      discarded += crash.discarded;
      equal += crash.equal;
    }
    expectAtLeast('frames', frames, 41);
    expectNumber('stored_cuts', storedCuts, 2 * (frames + 1));
    expectNumber('live_cuts', liveCuts, 2 * (frames + 1));
    // The frames that come of the model's last word, `messages` and `end` are nine.
    expectAtLeast('live_cuts resumed while the run was running', whileRunning, liveCuts - 2 * 9);
    expectAtLeast('frames void after the crash', discarded, 1);
    return {
      frames,
      stored_cuts: storedCuts,
      live_cuts: liveCuts,
      resumed_running: whileRunning,
      crash_cuts: crashCuts,
      void_frames: discarded,
      equal,
    };
  },
};
