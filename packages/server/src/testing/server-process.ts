import { compose, type Overrides } from '../compose.ts';
import type { Limits } from '../config/config.ts';
import { readConfig } from '../config/read-config.ts';
import type { WaitAt, WaitPoint } from '../domain/wait-points.ts';
import { scriptedModel } from './scripted-model.ts';
import { testAgency } from './test-agency.ts';

export interface ProcessOptions {
  /** Where the scripted model's controller listens; absent: the offline model answers. */
  readonly controllerPort?: number;
  /** Dies by SIGKILL when it comes to this point for the `killAfter`th time (1 where not given). */
  readonly killAt?: WaitPoint;
  readonly killAfter?: number;
  readonly limits?: Partial<Limits>;
  readonly fault?: string;
}

function killer(point: WaitPoint, after: number): WaitAt {
  let left = after;
  return (reached) => {
    if (reached !== point) return;
    left -= 1;
    if (left === 0) process.kill(process.pid, 'SIGKILL');
  };
}

/** Runs a server for a parent process that talks over IPC; `plant` adds a fault where the parent names one. */
export async function runServerProcess(plant: (fault: string) => Overrides): Promise<void> {
  const options = JSON.parse(process.argv[2] ?? '{}') as ProcessOptions;
  const { config, secrets } = readConfig(process.env);
  const onFatal = (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.stack : error}\n`);
    process.exit(1);
  };
  const planted = options.fault === undefined ? {} : plant(options.fault);
  const server = await compose(config, secrets, onFatal, {
    agencies: { test: testAgency },
    ...(options.controllerPort === undefined ? {} : { model: scriptedModel(options.controllerPort) }),
    ...(options.killAt === undefined ? {} : { waitAt: killer(options.killAt, options.killAfter ?? 1) }),
    ...planted,
    limits: { ...options.limits, ...planted.limits },
  });
  process.on('message', () => {
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
  process.send?.({ url: server.url });
}
