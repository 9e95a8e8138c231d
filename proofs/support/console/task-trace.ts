import type { CDPSession } from 'playwright-core';

interface TraceEvent {
  readonly name: string;
  readonly pid: number;
  readonly tid: number;
  /** Time of the processor in microseconds. */
  readonly tdur?: number;
  readonly args?: { readonly name?: string };
}

const CATEGORIES = ['disabled-by-default-devtools.timeline'];

/**
 * The tasks of a page. Their length is the time in which the processor worked on them: other programs of the machine, which
 * interrupt a task, do not count.
 */
export class TaskTrace {
  readonly #session: CDPSession;
  readonly #threads = new Map<string, string>();
  /** The longest task of each thread in microseconds. */
  readonly #longest = new Map<string, number>();

  private constructor(session: CDPSession) {
    this.#session = session;
  }

  static async start(session: CDPSession): Promise<TaskTrace> {
    const trace = new TaskTrace(session);
    session.on('Tracing.dataCollected', trace.#collect);
    await session.send('Tracing.start', {
      transferMode: 'ReportEvents',
      traceConfig: { recordMode: 'recordContinuously', includedCategories: CATEGORIES },
    });
    return trace;
  }

  readonly #collect = ({ value }: { readonly value: object[] }) => {
    for (const { name, pid, tid, tdur = 0, args } of value as TraceEvent[]) {
      const thread = `${pid} ${tid}`;
      if (name === 'thread_name') this.#threads.set(thread, String(args?.name));
      if (name === 'RunTask') this.#longest.set(thread, Math.max(this.#longest.get(thread) ?? 0, tdur));
    }
  };

  /** Ends the trace. */
  async longestMs(): Promise<number> {
    const complete = new Promise<void>((resolve) => this.#session.once('Tracing.tracingComplete', () => resolve()));
    await this.#session.send('Tracing.end');
    await complete;
    this.#session.off('Tracing.dataCollected', this.#collect);
    const tasks = [...this.#longest].filter(([thread]) => this.#threads.get(thread) === 'CrRendererMain');
    if (tasks.length === 0) throw new Error('The browser has reported no task of a page.');
    return Math.max(...tasks.map(([, microseconds]) => microseconds)) / 1000;
  }
}
