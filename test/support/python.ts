import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before } from 'node:test';
import { root } from './cli-process.ts';
import { PYTHON } from './services.ts';

/** The environment in which `import runwire` finds the client, without installing it. */
export const PYTHON_ENV = {
  PYTHONPATH: join(root, 'packages/client-python/src'),
  PYTHONDONTWRITEBYTECODE: '1',
  PYTHONUTF8: '1',
};

/** A timing of the client that is fast enough for a test, and long enough for a busy machine. */
export const QUICK = { silence_seconds: 1, min_pause_seconds: 0.01, max_pause_seconds: 0.1 };

/** The fields of a `RunwireError` of the Python client. */
export interface PythonError {
  readonly class: string;
  readonly code: string;
  readonly message: string;
  readonly status: number | null;
  readonly retryable: boolean;
  readonly admitted: boolean | 'unknown' | null;
  readonly [field: string]: unknown;
}

interface Outcome {
  readonly value?: unknown;
  readonly error?: PythonError;
  readonly crash?: string;
}

/** The clients of the Python package by their class. */
export const PYTHON_CLIENTS = ['Runwire', 'AsyncRunwire'] as const;

/**
 * One Python process for all tests of a file. Each snippet runs in a thread of its own. It is written for asyncio; unless the
 * given `kind` is `AsyncRunwire`, `async` and `await` are removed.
 */
export class Python implements Disposable {
  #child: ChildProcess | null = null;
  readonly #waiting = new Map<number, (outcome: Outcome) => void>();
  #ids = 0;

  static shared(): Python {
    const python = new Python();
    before(() => python.#start());
    after(() => python[Symbol.dispose]());
    return python;
  }

  static start(): Python {
    const python = new Python();
    python.#start();
    return python;
  }

  [Symbol.dispose](): void {
    this.#child?.kill();
  }

  #start(): void {
    const child = spawn(PYTHON, [join(import.meta.dirname, 'python-session.py')], {
      env: { PATH: process.env.PATH, ...PYTHON_ENV },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    this.#child = child;
    createInterface({ input: child.stdout }).on('line', (line) => {
      const { id, ...outcome } = JSON.parse(line);
      this.#waiting.get(id)?.(outcome);
      this.#waiting.delete(id);
    });
    child.on('exit', () => {
      for (const settle of this.#waiting.values()) settle({ crash: 'Python ended.' });
    });
  }

  /** Runs a function's body. It sees all names of `runwire` and what is given, and a `client` of the given `url`. */
  async run<T = unknown>(code: string, given: object = {}): Promise<T> {
    const { value, error, crash } = await this.#outcome(code, given);
    if (crash !== undefined) throw new Error(crash);
    if (error !== undefined) throw new Error(`${error.class}: ${error.message}`);
    return value as T;
  }

  /** Runs a snippet that must raise a `RunwireError`. */
  async fail(code: string, given: object = {}): Promise<PythonError> {
    const { value, error, crash } = await this.#outcome(code, given);
    if (error === undefined) throw new Error(crash ?? `No error was raised: ${JSON.stringify(value)}`);
    return error;
  }

  #outcome(code: string, given: object): Promise<Outcome> {
    this.#ids += 1;
    const id = this.#ids;
    return new Promise((resolve) => {
      this.#waiting.set(id, resolve);
      this.#child?.stdin?.write(`${JSON.stringify({ id, code, given })}\n`);
    });
  }
}
