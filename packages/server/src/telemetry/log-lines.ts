import { writeSync } from 'node:fs';
import { pino } from 'pino';

/** A killed process loses at most this time's lines. */
const FLUSH_MS = 100;
const FLUSH_CHARS = 16 * 1024;
/** Lines of pino begin with their level: 50 is `error`, 60 is `fatal`. */
const URGENT = /^\{"level":[56]/;

const STANDARD_ERROR = 2;
/** A write takes microseconds, unless its reader is slow. */
const LAST_WRITE_MS = 20;

/**
 * Collects log lines and writes them together: one write every 100 ms, or for each 16 kB, in place of one per run. Lines
 * from `error` on are written immediately, with all lines before them.
 */
class LogLines {
  readonly #destination = pino.destination({ dest: STANDARD_ERROR, sync: false });
  readonly #flush = (): void => this.flush();
  #lines = '';
  #timer: NodeJS.Timeout | null = null;
  /** True while a thread writes. */
  #isWriting = false;
  /** Pino closes its destination when the event loop is empty. Listeners that run after that may still log. */
  #isClosed = false;

  constructor() {
    this.#destination.on('drain', () => {
      this.#isWriting = false;
    });
    this.#destination.on('close', () => {
      this.#isClosed = true;
    });
  }

  write(line: string): void {
    this.#lines += line;
    if (this.#isClosed) this.exit();
    else if (this.#lines.length >= FLUSH_CHARS || URGENT.test(line)) this.flush();
    else if (this.#timer === null) {
      this.#timer = setTimeout(this.#flush, FLUSH_MS);
      this.#timer.unref();
    }
  }

  flush(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    const lines = this.#lines;
    if (lines === '') return;
    this.#lines = '';
    this.#isWriting = true;
    this.#destination.write(lines);
  }

  /** Returns after everything is written. From here on each line is written immediately: no timer fires any more. */
  exit(): void {
    if (!this.#isClosed) {
      // The thread finishes its write in any case. We wait so that the lines stay in order.
      if (this.#isWriting) sleep(LAST_WRITE_MS);
      this.#destination.flushSync();
      this.#isClosed = true;
    }
    const bytes = Buffer.from(this.#lines);
    this.#lines = '';
    writeAll(bytes);
  }
}

function writeAll(bytes: Buffer): void {
  for (let written = 0; written < bytes.length; ) {
    try {
      written += writeSync(STANDARD_ERROR, bytes, written);
    } catch (error) {
      // A pipe's reader is slow. Any other error means that no one reads the lines.
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') return;
      sleep(LAST_WRITE_MS);
    }
  }
}

function sleep(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

let standardError: LogLines | null = null;

/** This process's log lines on standard error. All loggers share them. */
export function standardErrorLines(): LogLines {
  if (standardError === null) {
    const lines = new LogLines();
    standardError = lines;
    process.on('beforeExit', () => lines.flush());
    process.on('exit', () => lines.exit());
  }
  return standardError;
}
