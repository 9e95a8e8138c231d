import { Worker } from 'node:worker_threads';
import { monotonicMs } from '@runwire/lib/monotonic.ts';
import type { HeartbeatReport, Heartbeats } from '../heartbeats.ts';
import type { PostgresSettings } from './settings.ts';

export interface HeartbeatTimes {
  /** A node is dead if its heartbeat does not change for this long. */
  readonly leaseMs: number;
  readonly beatMs: number;
}

export interface HeartbeatThreadData extends HeartbeatTimes {
  readonly settings: PostgresSettings;
  /** The time of the last turn of the event loop. */
  readonly life: SharedArrayBuffer;
  readonly lifeMs: number;
  /** After a longer time without the database the other nodes' watch starts again. */
  readonly gapMs: number;
}

export interface HeartbeatMessage {
  readonly nodeId?: string | null;
  readonly draining?: true;
  /** A message with figures asks for no heartbeat. */
  readonly statsJson?: string;
}

const LIFE_MS = 60_000;

/** Raises heartbeats from a thread with its own connection. */
export class PostgresHeartbeats implements Heartbeats {
  readonly #worker: Worker;
  readonly #life = new Float64Array(new SharedArrayBuffer(8));
  #onReport: ((report: HeartbeatReport) => void) | null = null;

  constructor(settings: PostgresSettings, { leaseMs, beatMs }: HeartbeatTimes, onFatal: (error: unknown) => void) {
    this.keepAlive();
    const file = import.meta.url.endsWith('.ts') ? './heartbeat-thread.ts' : './heartbeat-thread.js';
    const { url, pool, pooled } = settings;
    const workerData: HeartbeatThreadData = {
      settings: { url, pool, pooled },
      leaseMs,
      beatMs,
      life: this.#life.buffer as SharedArrayBuffer,
      lifeMs: LIFE_MS,
      gapMs: (leaseMs * 3) / 8,
    };
    this.#worker = new Worker(new URL(file, import.meta.url), { workerData });
    this.#worker.unref();
    this.#worker.on('error', onFatal);
    this.#worker.on('message', (report: HeartbeatReport) => this.#onReport?.(report));
  }

  start(onReport: (report: HeartbeatReport) => void): void {
    this.#onReport = onReport;
  }

  setNode(nodeId: string | null): void {
    this.#send({ nodeId });
  }

  drain(): void {
    this.#send({ draining: true });
  }

  keepAlive(): void {
    this.#life[0] = monotonicMs();
  }

  setStats(statsJson: string): void {
    this.#send({ statsJson });
  }

  raiseNow(): void {
    this.#send({});
  }

  #send(message: HeartbeatMessage): void {
    this.#worker.postMessage(message);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#onReport = null;
    await this.#worker.terminate();
  }
}
