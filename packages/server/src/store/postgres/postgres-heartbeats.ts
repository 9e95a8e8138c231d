import { Worker } from 'node:worker_threads';
import { monotonicMs } from '@runwire/lib/monotonic.ts';
import type { HeartbeatReport, Heartbeats } from '../heartbeats.ts';
import { HeartbeatLoop, type HeartbeatLoopData, type HeartbeatMessage, type HeartbeatTimes } from './heartbeat-loop.ts';
import type { PostgresSettings } from './settings.ts';

const LIFE_MS = 60_000;

/** Runs a loop, in this thread or in its own. */
interface LoopHost {
  send(message: HeartbeatMessage): void;
  stop(): Promise<unknown>;
}

type OnReport = (report: HeartbeatReport) => void;

/** A busy event loop does not delay the heartbeats of a thread. */
function startThread(data: HeartbeatLoopData, onReport: OnReport, onFatal: (error: unknown) => void): LoopHost {
  const file = import.meta.url.endsWith('.ts') ? './heartbeat-thread.ts' : './heartbeat-thread.js';
  const worker = new Worker(new URL(file, import.meta.url), { workerData: data });
  worker.unref();
  worker.on('error', onFatal);
  worker.on('message', onReport);
  return { send: (message) => worker.postMessage(message), stop: () => worker.terminate() };
}

/** For tests, which start many servers: a thread takes 115 ms of CPU. */
function startHere(data: HeartbeatLoopData, onReport: OnReport, onFatal: (error: unknown) => void): LoopHost {
  const loop = new HeartbeatLoop(data, onReport);
  loop.run().catch(onFatal);
  return { send: (message) => loop.receive(message), stop: () => loop.stop() };
}

export interface HeartbeatOptions extends HeartbeatTimes {
  /** False if the heartbeats share the event loop of the server. */
  readonly ownThread: boolean;
}

/** Raises heartbeats on their own connection. */
export class PostgresHeartbeats implements Heartbeats {
  readonly #host: LoopHost;
  readonly #life = new Float64Array(new SharedArrayBuffer(8));
  #onReport: OnReport | null = null;

  constructor(settings: PostgresSettings, options: HeartbeatOptions, onFatal: (error: unknown) => void) {
    this.keepAlive();
    const { url, pool, pooled } = settings;
    const { leaseMs, beatMs } = options;
    const data: HeartbeatLoopData = {
      settings: { url, pool, pooled },
      leaseMs,
      beatMs,
      life: this.#life.buffer as SharedArrayBuffer,
      lifeMs: LIFE_MS,
      gapMs: (leaseMs * 3) / 8,
    };
    const start = options.ownThread ? startThread : startHere;
    this.#host = start(data, (report) => this.#onReport?.(report), onFatal);
  }

  start(onReport: OnReport): void {
    this.#onReport = onReport;
  }

  setNode(nodeId: string | null): void {
    this.#host.send({ nodeId });
  }

  drain(): void {
    this.#host.send({ draining: true });
  }

  keepAlive(): void {
    this.#life[0] = monotonicMs();
  }

  setStats(statsJson: string): void {
    this.#host.send({ statsJson });
  }

  raiseNow(): void {
    this.#host.send({});
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#onReport = null;
    await this.#host.stop();
  }
}
