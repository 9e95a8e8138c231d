import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { expectEqual, Shortfall, WAIT_MS, within } from '@runwire/test-kit/shortfall.ts';
import type { HeldRuns } from './held-runs.ts';

const PAUSE_MS = 10;

interface StreamOptions {
  readonly integration: string;
  readonly serverPid: number;
  readonly tokensPerRun: number;
  /** A call that each run makes before its tokens, and its output; null for none. */
  readonly call: { readonly tool: string; readonly output: string } | null;
}

interface Times {
  readonly at: number;
  /** How long this process ran, and how long it and the server waited for a core. */
  readonly othersMs: number;
  /** The processes that the server has started and that execute their own program by now. */
  readonly children: readonly string[];
}

/** One integration's runs, one after the other. The next token is sent after the one before has arrived. */
export class TokenStream {
  readonly #runs: HeldRuns;
  readonly #options: StreamOptions;
  #isOver = false;
  tokens = 0;
  calls = 0;
  cut = 0;
  /** Without the time that other work of this machine took: a busy machine is no fault of the server. */
  slowestMs = 0;
  slowestWallMs = 0;

  constructor(runs: HeldRuns, options: StreamOptions) {
    this.#runs = runs;
    this.#options = options;
  }

  /** Sends tokens until the work is over. */
  async during(work: Promise<unknown>): Promise<void> {
    const over = work.finally(() => (this.#isOver = true));
    over.catch(() => {});
    while (!this.#isOver) await this.#run();
  }

  async #run(): Promise<void> {
    const { integration, call, tokensPerRun } = this.#options;
    const run = await this.#runs.begin(integration, `Stream to ${integration}.`);
    if (call !== null) {
      expectEqual(`${integration}: output`, await run.callTool(call.tool, WAIT_MS), call.output);
      this.calls += 1;
    }
    let [from, answer] = [0, ''];
    for (let sent = 0; sent < tokensPerRun && !this.#isOver; sent += 1) {
      const token = `<${this.tokens}>`;
      const began = this.#times();
      await run.modelCall.text(token);
      const searchFrom = from;
      const arrival = run.reader.until(({ text }) => text.includes(token, searchFrom));
      await within(`${integration}: token`, WAIT_MS, arrival).catch((error: unknown) => {
        if (error instanceof Shortfall) throw error;
        this.cut += 1;
        throw new Shortfall(`cut streams: expected 0, found ${this.cut}.`);
      });
      this.#measure(began);
      from = run.reader.text.indexOf(token, from);
      answer += token;
      this.tokens += 1;
      await sleep(PAUSE_MS);
    }
    await run.finish();
    expectEqual(`${integration}: answer`, run.reader.answer, answer);
  }

  #times(): Times {
    const { serverPid } = this.#options;
    const [own, server] = [threadTimes(process.pid), threadTimes(serverPid)];
    return {
      at: performance.now(),
      othersMs: own.runMs + own.waitedMs + server.waitedMs,
      children: executingChildren(serverPid),
    };
  }

  #measure(began: Times): void {
    const now = this.#times();
    const wallMs = now.at - began.at;
    // The server waits until a process that it starts executes its program, and that process may wait for a core.
    const started = now.children.filter((pid) => !began.children.includes(pid));
    const startMs = Math.max(0, ...started.map((pid) => threadTimes(pid).waitedMs));
    this.slowestWallMs = Math.max(this.slowestWallMs, wallMs);
    this.slowestMs = Math.max(this.slowestMs, wallMs - (now.othersMs - began.othersMs) - startMs);
  }
}

/** How long the main thread of a process ran, and how long it waited for a core. */
function threadTimes(pid: number | string): { readonly runMs: number; readonly waitedMs: number } {
  const [runNs = 0, waitedNs = 0] = readProc(`${pid}/task/${pid}/schedstat`).map(Number);
  return { runMs: runNs / 1e6, waitedMs: waitedNs / 1e6 };
}

/** Until it executes its program, a process has its parent's command line. */
function executingChildren(pid: number): readonly string[] {
  const [own] = readProc(`${pid}/cmdline`);
  return readProc(`${pid}/task/${pid}/children`).filter((child) => readProc(`${child}/cmdline`)[0] !== own);
}

/** A file's words in `/proc`; none if the process has ended. */
function readProc(path: string): readonly string[] {
  try {
    return readFileSync(`/proc/${path}`, 'utf8').trim().split(' ');
  } catch {
    return [];
  }
}
