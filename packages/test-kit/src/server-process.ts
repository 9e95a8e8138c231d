import { existsSync, rmSync } from 'node:fs';
import { flushCompileCache } from 'node:module';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { compose } from '@runwire/server/src/compose/compose.ts';
import type { Overrides } from '@runwire/server/src/compose/overrides.ts';
import { startWhenDiskHasSpace } from '@runwire/server/src/compose/start-when-disk-has-space.ts';
import type { Limits } from '@runwire/server/src/config/limits.ts';
import { readConfig } from '@runwire/server/src/config/read-config.ts';
import type { UploadPoint, WaitAt, WaitPoint } from '@runwire/server/src/domain/wait-points.ts';
import { silentNotifier } from '@runwire/server/src/store/notifier.ts';
import { scriptedModel } from '@runwire/server/testing';
import { findAgencyProcesses } from './agency-kills.ts';
import { fillDisk } from './fill-disk.ts';
import { askingAgency, emptyAgency, heldTeamAgency, heldToolAgency, trustingAgency } from './held-tool-agency.ts';
import { LoopWatch } from './loop-watch.ts';
import { testAgency } from './test-agency.ts';

export interface ProcessOptions {
  /** The port of the `ModelController`. If it is absent, the offline model answers. */
  readonly controllerPort?: number;
  /** Dies by SIGKILL when it reaches this point for the `killAfter`th time (default 1). */
  readonly killAt?: WaitPoint | UploadPoint;
  readonly killAfter?: number;
  /** Its agencies' processes, not the server, die at `killAt`. */
  readonly killsAgencies?: boolean;
  /** After its parent has armed it, stops itself there by SIGSTOP, until it gets SIGCONT. */
  readonly stopAt?: { readonly point: WaitPoint; readonly time: number };
  /** Waits at this point until the file exists, removes it, and continues; after 10 s it continues without the file. */
  readonly hold?: { readonly at: WaitPoint; readonly file: string };
  /** Fills this file's disk, once, at the point `at`, or at the point that its parent names later by `FillAt`. */
  readonly fill?: { readonly file: string; readonly at?: WaitPoint | UploadPoint };
  readonly limits?: Partial<Limits>;
  /** By how much the process's clock is ahead; negative if it is late. */
  readonly aheadMs?: number;
  /** Ignores the hints of other nodes. */
  readonly dropHints?: boolean;
  /** False if the server has only its folder's agencies. */
  readonly withTestAgencies?: boolean;
  /** The console's built files; the committed ones by default. */
  readonly consoleFolder?: string;
  readonly fault?: string;
}

/** The agencies of a server of tests, by name. */
export const TEST_AGENCIES = {
  test: testAgency,
  gate: heldToolAgency,
  team: heldTeamAgency,
  asking: askingAgency,
  trusting: trustingAgency,
  empty: emptyAgency,
};

/** A parent sends this to make `stopAt` count from now on. */
export const ARM = 'arm';
/** A parent sends this to sweep unused files now. */
export const SWEEP = 'sweep';
/** A parent sends this to watch the event loop from now on, and to learn its longest turn since the last message. */
export const LOOP = 'loop';
/** A parent sends this to learn how much memory is in use after a garbage collection. */
export const MEMORY = 'memory';
/** A parent sends this to fill the disk the next time that the server reaches this point. */
export interface FillAt {
  readonly fillAt: WaitPoint | UploadPoint;
}
let isArmed = false;
let fillAt: WaitPoint | UploadPoint | null = null;

function filler({ file, at }: NonNullable<ProcessOptions['fill']>): WaitAt {
  fillAt = at ?? null;
  return (reached) => {
    if (reached !== fillAt) return;
    fillAt = null;
    fillDisk(file);
  };
}

function atPoint(point: WaitPoint | UploadPoint, time: number, act: () => void, counts = () => true): WaitAt {
  let left = time;
  return (reached) => {
    if (reached !== point || !counts()) return;
    left -= 1;
    if (left === 0) act();
  };
}

const signalSelf = (signal: NodeJS.Signals) => () => void process.kill(process.pid, signal);

function killAgencies(): void {
  for (const pid of findAgencyProcesses(process.pid)) process.kill(pid, 'SIGKILL');
}

/** Heap and buffers that are reachable. The resident memory also contains what the allocator keeps. */
function usedBytes(): number {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

const HOLD_MS = 10_000;
const LOOK_MS = 2;

function holder(point: WaitPoint, file: string): WaitAt {
  const still = new Int32Array(new SharedArrayBuffer(4));
  return (reached) => {
    if (reached !== point) return;
    for (let waited = 0; !existsSync(file) && waited < HOLD_MS; waited += LOOK_MS) Atomics.wait(still, 0, 0, LOOK_MS);
    rmSync(file, { force: true });
  };
}

/** Runs a server for a parent process, which sends commands over IPC. `plant` adds the fault that the parent names. */
export async function runServerProcess(plant: (fault: string, given: Overrides) => Promise<Overrides>): Promise<void> {
  const options = JSON.parse(process.argv[2] ?? '{}') as ProcessOptions;
  const { aheadMs = 0 } = options;
  const now = Date.now.bind(Date);
  if (aheadMs !== 0) Date.now = () => now() + aheadMs;
  const { config, secrets } = readConfig(process.env);
  const onFatal = (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.stack : error}\n`);
    process.exit(1);
  };
  const given: Overrides = {
    agencies: options.withTestAgencies === false ? {} : TEST_AGENCIES,
    ...(options.controllerPort === undefined ? {} : { model: scriptedModel(options.controllerPort) }),
    ...(options.killAt === undefined
      ? {}
      : {
          waitAt: atPoint(
            options.killAt,
            options.killAfter ?? 1,
            options.killsAgencies === true ? killAgencies : signalSelf('SIGKILL'),
          ),
        }),
    ...(options.stopAt === undefined
      ? {}
      : { waitAt: atPoint(options.stopAt.point, options.stopAt.time, signalSelf('SIGSTOP'), () => isArmed) }),
    ...(options.hold === undefined ? {} : { waitAt: holder(options.hold.at, options.hold.file) }),
    ...(options.fill === undefined ? {} : { waitAt: filler(options.fill) }),
    ...(options.dropHints === true ? { notifier: silentNotifier } : {}),
    ...(options.consoleFolder === undefined ? {} : { consoleFolder: options.consoleFolder }),
    ...(options.limits === undefined ? {} : { limits: options.limits }),
  };
  const overrides = options.fault === undefined ? given : await plant(options.fault, given);
  const server = await startWhenDiskHasSpace({
    config,
    start: (settings) => compose(settings, secrets, onFatal, overrides),
    onWaiting: () => {},
    signalled: new Promise(() => {}),
  });
  if (server === null) return;
  let loopWatch: LoopWatch | null = null;
  process.on('message', async (message) => {
    if (typeof message === 'object' && message !== null && 'fillAt' in message) {
      ({ fillAt } = message as FillAt);
      return;
    }
    if (message === ARM) {
      isArmed = true;
      return;
    }
    if (message === SWEEP) {
      process.send?.({ swept: await server.probes.sweepBlobs() });
      return;
    }
    if (message === MEMORY) {
      process.send?.({ usedBytes: usedBytes() });
      return;
    }
    if (message === LOOP) {
      loopWatch ??= new LoopWatch();
      process.send?.({ longestTurnMs: loopWatch.takeLongestMs() });
      return;
    }
    const { activeRuns, openStreams, fullStreams } = server.probes;
    process.send?.({
      activeRuns: activeRuns(),
      openStreams: openStreams(),
      fullStreams: fullStreams(),
      rssBytes: process.memoryUsage.rss(),
    });
  });
  let signals = 0;
  process.on('SIGTERM', async () => {
    signals += 1;
    if (signals > 1) process.exit(0);
    await server.drain();
    await server[Symbol.asyncDispose]();
    process.disconnect?.();
  });
  process.on('disconnect', () => {
    void server[Symbol.asyncDispose]();
  });
  // Node stores compiled code when it exits normally. Most servers here are killed, some immediately after the start.
  flushCompileCache();
  process.send?.({ url: server.url, setupLink: server.setupLink });
}
