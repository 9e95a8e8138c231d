import type { Model, Room } from '../agent/ports.ts';
import { RunFailure } from '../domain/run-failure.ts';
import type { StopHandle } from './stop-handle.ts';

const TICK_MS = 250;
/** What the end of a run may take; a store that takes longer is away. */
const END_MS = 2000;

/** Watches all runs of this node with one coarse timer: how long each takes, and how long its model is silent. */
export class RunWatch implements Disposable {
  readonly #runs = new Set<WatchedRun>();
  readonly #silenceMs: number;
  readonly #timer: NodeJS.Timeout;

  constructor(silenceMs: number) {
    this.#silenceMs = silenceMs;
    this.#timer = setInterval(this.#tick, TICK_MS);
    this.#timer.unref();
  }

  /** `spentMs`: what earlier attempts have taken of the run's time. */
  begin(stop: StopHandle, maxRunSeconds: number, spentMs: number, log: WatchedLog): WatchedRun {
    const run = new WatchedRun(stop, maxRunSeconds, this.#silenceMs, spentMs, log);
    this.#runs.add(run);
    return run;
  }

  end(run: WatchedRun): void {
    this.#runs.delete(run);
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

export class WatchedRun {
  readonly #stop: StopHandle;
  readonly #maxRunSeconds: number;
  readonly #silenceMs: number;
  readonly #log: WatchedLog;
  readonly #deadline: number;
  #callsUnderWay = 0;
  #heard = false;
  #silentSince = 0;

  constructor(stop: StopHandle, maxRunSeconds: number, silenceMs: number, spentMs: number, log: WatchedLog) {
    this.#stop = stop;
    this.#maxRunSeconds = maxRunSeconds;
    this.#silenceMs = silenceMs;
    this.#log = log;
    this.#deadline = performance.now() + maxRunSeconds * 1000 - spentMs;
  }

  /** Something came. On the road of every token: a flag, and no look at the clock. */
  heard(): void {
    this.#heard = true;
  }

  /** The same model, whose silence counts while a call of it is under way. */
  guard(model: Model): Model {
    if (model.watchesSilence === true) return model;
    return {
      id: model.id,
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
      this.#stop.fail(new RunFailure('run_timeout', sentence));
      // "At the run's limit readers are cut without `end`, and the run is ended when the store is back."
      if (now >= this.#deadline + END_MS) this.#log.cut();
    } else if (this.#heard || this.#log.isFull) {
      // Who is not listened to is not silent.
      // Counted from here, up to a tick late: never too early.
      this.#heard = false;
      this.#silentSince = now;
    } else if (this.#callsUnderWay > 0 && now - this.#silentSince >= this.#silenceMs) {
      const sentence = `The model was silent for ${this.#silenceMs / 1000} s; try again with a new \`usageRequestId\`.`;
      this.#stop.fail(new RunFailure('model_timeout', sentence));
    }
  }
}
