import { existsSync, rmSync } from 'node:fs';
import { flushCompileCache } from 'node:module';
import { compose } from '@runwire/server/src/compose/compose.ts';
import type { Overrides } from '@runwire/server/src/compose/overrides.ts';
import { startWhenDiskHasSpace } from '@runwire/server/src/compose/start-when-disk-has-space.ts';
import type { Limits } from '@runwire/server/src/config/config.ts';
import { readConfig } from '@runwire/server/src/config/read-config.ts';
import type { UploadPoint, WaitAt, WaitPoint } from '@runwire/server/src/domain/wait-points.ts';
import { silentNotifier } from '@runwire/server/src/store/notifier.ts';
import { fillDisk } from './fill-disk.ts';
import { gateAgency } from './gate-agency.ts';
import { scriptedModel } from './scripted-model.ts';
import { testAgency } from './test-agency.ts';

export interface ProcessOptions {
  /** Where the scripted model's controller listens; absent: the offline model answers. */
  readonly controllerPort?: number;
  /** Dies by SIGKILL when it comes to this point for the `killAfter`th time (1 where not given). */
  readonly killAt?: WaitPoint | UploadPoint;
  readonly killAfter?: number;
  /** After its parent has armed it, stops itself there by SIGSTOP, until it gets SIGCONT. */
  readonly stopAt?: { readonly point: WaitPoint; readonly time: number };
  /** Waits at this point until the file exists, removes it, and continues; after 10 s it continues without the file. */
  readonly hold?: { readonly at: WaitPoint; readonly file: string };
  /** Fills the disk of this file, once, at the point `at`, or at the point that its parent names later by `FillAt`. */
  readonly fill?: { readonly file: string; readonly at?: WaitPoint | UploadPoint };
  readonly limits?: Partial<Limits>;
  /** No hint of another node is heard. */
  readonly dropHints?: boolean;
  readonly fault?: string;
}

/** A parent sends this to make `stopAt` count from now on. */
export const ARM = 'arm';
/** A parent sends this to sweep unused files now. */
export const SWEEP = 'sweep';
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

function signaller(signal: NodeJS.Signals, point: WaitPoint | UploadPoint, time: number, counts = () => true): WaitAt {
  let left = time;
  return (reached) => {
    if (reached !== point || !counts()) return;
    left -= 1;
    if (left === 0) process.kill(process.pid, signal);
  };
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

/** Runs a server for a parent process that talks over IPC; `plant` adds a fault where the parent names one. */
export async function runServerProcess(plant: (fault: string, options: ProcessOptions) => Overrides): Promise<void> {
  const options = JSON.parse(process.argv[2] ?? '{}') as ProcessOptions;
  const { config, secrets } = readConfig(process.env);
  const onFatal = (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.stack : error}\n`);
    process.exit(1);
  };
  const planted = options.fault === undefined ? {} : plant(options.fault, options);
  const overrides: Overrides = {
    agencies: { test: testAgency, gate: gateAgency },
    ...(options.controllerPort === undefined ? {} : { model: scriptedModel(options.controllerPort) }),
    ...(options.killAt === undefined ? {} : { waitAt: signaller('SIGKILL', options.killAt, options.killAfter ?? 1) }),
    ...(options.stopAt === undefined
      ? {}
      : { waitAt: signaller('SIGSTOP', options.stopAt.point, options.stopAt.time, () => isArmed) }),
    ...(options.hold === undefined ? {} : { waitAt: holder(options.hold.at, options.hold.file) }),
    ...(options.fill === undefined ? {} : { waitAt: filler(options.fill) }),
    ...(options.dropHints === true ? { notifier: silentNotifier } : {}),
    ...planted,
    limits: { ...options.limits, ...planted.limits },
  };
  const server = await startWhenDiskHasSpace({
    config,
    start: (settings) => compose(settings, secrets, onFatal, overrides),
    onWaiting: () => {},
    signalled: new Promise(() => {}),
  });
  if (server === null) return;
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
  // Node keeps what it compiled when it ends by itself; most servers here are killed, some as soon as they are up.
  flushCompileCache();
  process.send?.({ url: server.url });
}
