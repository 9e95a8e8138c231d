import type { Browser, CDPSession } from 'playwright-core';

/** An event of Chromium's trace. Times are in microseconds. */
interface TraceEvent {
  readonly name: string;
  readonly pid: number;
  readonly tid: number;
  /** The processor's time, without the time in which the thread waited for one. */
  readonly tdur?: number;
  readonly args: { readonly name?: string };
}

const TASK = 'ThreadControllerImpl::RunTask';
const MAIN_THREAD = 'CrRendererMain';

/**
 * Records the tasks of all pages of a browser. Their processor time counts, not their duration: on a machine that runs
 * the server and other programs too, a task of 5 ms was found to last 80 ms.
 */
export class TaskTrace {
  readonly #session: CDPSession;
  readonly #events: TraceEvent[] = [];

  private constructor(session: CDPSession) {
    this.#session = session;
  }

  static async start(browser: Browser): Promise<TaskTrace> {
    const trace = new TaskTrace(await browser.newBrowserCDPSession());
    trace.#session.on('Tracing.dataCollected', ({ value }) =>
      trace.#events.push(...(value as unknown as TraceEvent[])),
    );
    await trace.#session.send('Tracing.start', {
      transferMode: 'ReportEvents',
      traceConfig: { includedCategories: ['toplevel'] },
    });
    return trace;
  }

  /** Resolves to each task's milliseconds, the longest first. */
  async stop(): Promise<readonly number[]> {
    const complete = new Promise((resolve) => this.#session.once('Tracing.tracingComplete', resolve));
    await this.#session.send('Tracing.end');
    await complete;
    await this.#session.detach();
    const getThread = ({ pid, tid }: TraceEvent) => `${pid} ${tid}`;
    const isMain = ({ name, args }: TraceEvent) => name === 'thread_name' && args.name === MAIN_THREAD;
    const mains = new Set(this.#events.filter(isMain).map(getThread));
    const tasks = this.#events.flatMap((event) =>
      event.name === TASK && event.tdur !== undefined && mains.has(getThread(event)) ? [event.tdur / 1000] : [],
    );
    if (tasks.length === 0) throw new Error('The trace has no task of a page.');
    return tasks.toSorted((a, b) => b - a);
  }
}
