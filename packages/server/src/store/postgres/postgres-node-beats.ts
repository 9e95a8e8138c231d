import { Worker } from 'node:worker_threads';
import { monotonicMs } from '../../lib/monotonic.ts';
import type { BeatReport, NodeBeats } from '../node-beats.ts';
import type { PostgresSettings } from './settings.ts';

export interface BeatTimes {
  /** A node is dead if its heartbeat does not change for this long. */
  readonly leaseMs: number;
  readonly beatMs: number;
}

export interface BeatThreadData extends BeatTimes {
  readonly settings: PostgresSettings;
  /** The time of the last turn of the event loop. */
  readonly life: SharedArrayBuffer;
  readonly lifeMs: number;
  /** After a longer time without the database the watch of the other nodes starts again. */
  readonly gapMs: number;
}

export interface BeatMessage {
  readonly nodeId?: string | null;
  readonly draining?: true;
}

const LIFE_MS = 60_000;

/** Raises heartbeats from a thread with its own connection. */
export class PostgresNodeBeats implements NodeBeats {
  readonly #worker: Worker;
  readonly #life = new Float64Array(new SharedArrayBuffer(8));
  #onReport: ((report: BeatReport) => void) | null = null;

  constructor(settings: PostgresSettings, { leaseMs, beatMs }: BeatTimes, onFatal: (error: unknown) => void) {
    this.live();
    const file = import.meta.url.endsWith('.ts') ? './beat-thread.ts' : './beat-thread.js';
    const { url, pool, pooled } = settings;
    const workerData: BeatThreadData = {
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
    this.#worker.on('message', (report: BeatReport) => this.#onReport?.(report));
  }

  start(onReport: (report: BeatReport) => void): void {
    this.#onReport = onReport;
  }

  become(nodeId: string | null): void {
    this.#tell({ nodeId });
  }

  drain(): void {
    this.#tell({ draining: true });
  }

  live(): void {
    this.#life[0] = monotonicMs();
  }

  hurry(): void {
    this.#tell({});
  }

  #tell(message: BeatMessage): void {
    this.#worker.postMessage(message);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#onReport = null;
    await this.#worker.terminate();
  }
}
