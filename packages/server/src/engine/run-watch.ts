import { type Cell, CellSet } from '@runwire/lib/cells.ts';
import type { Model, Room } from '../agent/ports.ts';
import { RunFailure } from '../domain/run/run-failure.ts';
import type { StopHandle } from './stop-handle.ts';

const TICK_MS = 250;
/**
 * How long a run's end may take before its readers are cut: a store that needs longer is unavailable. Counted in
 * ticks, so that a pause of the whole process does not count.
 */
const END_TICKS = 8;

/** Watches the time limit and the model's silence for all runs of this node, with one coarse timer. */
export class RunWatch implements Disposable {
  readonly #runs = new CellSet<WatchedRun>();
  readonly #silenceMs: number;
  readonly #timer: NodeJS.Timeout;

  constructor(silenceMs: number) {
    this.#silenceMs = silenceMs;
    this.#timer = setInterval(this.#tick, TICK_MS);
    this.#timer.unref();
  }

  /** `spentMs` is the time that earlier attempts have used of the limit. */
  begin(stop: StopHandle, maxRunSeconds: number, spentMs: number, log: WatchedLog): WatchedRun {
    const run = new WatchedRun(stop, { maxRunSeconds, spentMs, silenceMs: this.#silenceMs }, log);
    run.cell = this.#runs.add(run);
    return run;
  }

  end(run: WatchedRun): void {
    if (run.cell !== null) this.#runs.delete(run.cell);
  }

  #tick = (): void => {
    const now = performance.now();
    for (const run of this.#runs) run.check(now);
  };

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}

interface WatchedLog extends Room {
  cut(): void;
}

interface WatchLimits {
  readonly maxRunSeconds: number;
  readonly spentMs: number;
  readonly silenceMs: number;
}

export class WatchedRun {
  /** Used by `RunWatch`. */
  cell: Cell<WatchedRun> | null = null;
  readonly #stop: StopHandle;
  readonly #maxRunSeconds: number;
  readonly #silenceMs: number;
  readonly #log: WatchedLog;
  readonly #deadline: number;
  #callsUnderWay = 0;
  #heard = false;
  #silentSince = 0;
  #ticksOverTime = 0;

  constructor(stop: StopHandle, { maxRunSeconds, spentMs, silenceMs }: WatchLimits, log: WatchedLog) {
    this.#stop = stop;
    this.#maxRunSeconds = maxRunSeconds;
    this.#silenceMs = silenceMs;
    this.#log = log;
    this.#deadline = performance.now() + maxRunSeconds * 1000 - spentMs;
  }

  /** Called for every token, so it only sets a flag and does not read the clock. */
  heard(): void {
    this.#heard = true;
  }

  /** Wraps the model: its silence counts only while one of its calls is under way. */
  guard(model: Model): Model {
    if (model.watchesSilence === true) return model;
    return {
      ...model,
      call: async (request, output, signal) => {
        this.#callsUnderWay += 1;
        this.#heard = true;
        try {
          return await model.call(request, output, signal);
        } finally {
          this.#callsUnderWay -= 1;
        }
      },
    };
  }

  check(now: number): void {
    if (now >= this.#deadline) {
      const sentence = `The run took longer than the limit of ${this.#maxRunSeconds} s; ask for less, or raise \`maxRunSeconds\`.`;
      this.#stop.now({ kind: 'failed', failure: new RunFailure('run_timeout', sentence) });
      // If the store is unavailable, the end cannot be stored and sent. The readers are cut without `end` now, and the run
      // ends when the store is available again.
      if (this.#ticksOverTime >= END_TICKS) this.#log.cut();
      this.#ticksOverTime += 1;
    } else if (this.#heard || this.#log.isFull) {
      // While the log is full, the server does not read from the provider, so the model is not silent. The silence counts
      // from this tick on: that is up to one tick late, never too early.
      this.#heard = false;
      this.#silentSince = now;
    } else if (this.#callsUnderWay > 0 && now - this.#silentSince >= this.#silenceMs) {
      const sentence = `The model was silent for ${this.#silenceMs / 1000} s; try again with a new \`usageRequestId\`.`;
      this.#stop.now({ kind: 'failed', failure: new RunFailure('model_timeout', sentence) });
    }
  }
}
