import { Shortfall, until } from '@runwire/test-kit/shortfall.ts';
import type { Browser, CDPSession, Page } from 'playwright-core';
import { TaskTrace } from './task-trace.ts';

/* Runs in the page before its scripts: notes when rows are first painted. */
const WATCH = `(() => {
  const watch = { rows: null, firstRowAt: null };
  globalThis.largeWatch = watch;
  performance.setResourceTimingBufferSize(5000);
  const look = () => {
    if (watch.rows !== null && watch.firstRowAt === null && document.querySelector(watch.rows) !== null) {
      watch.firstRowAt = performance.now();
    }
    requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
})()`;

export interface LargeList {
  readonly name: string;
  /** Selects the rows, of which some must be in the document. */
  readonly rows: string;
  /** A part of the path of the request whose answer has the first rows. */
  readonly request: string;
  /** The element that scrolls; the page itself by default. */
  readonly box?: string;
  /** True if the list begins at its end. */
  readonly isUpwards?: true;
  /** Opens the page as a person does. */
  open(page: Page): Promise<void>;
  /** Waits until the page shows that everything was read. */
  waitForEnd(page: Page): Promise<void>;
}

/** What was measured on one page. */
export interface LargeFigures {
  /** From the answer of the list to its first row. */
  readonly firstRowMs: number;
  /** The longest task while scrolling through, in time of the processor. */
  readonly longestTaskMs: number;
  /** The most rows that the document had. */
  readonly rows: number;
  /** What the page used more after leaving than before. */
  readonly leftBytes: number;
}

const WHEEL_PX = 3000;
const MAX_WHEELS = 5000;
/** Without movement for this many wheels, the list is at its end. */
const STILL_WHEELS = 15;
const FRAME = 'new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))';

/** Measures lists in one page, one after the other. */
export class LargePage {
  readonly #page: Page;
  readonly #session: CDPSession;

  constructor(page: Page, session: CDPSession) {
    this.#page = page;
    this.#session = session;
  }

  static prepare = (page: Page): Promise<unknown> => page.context().addInitScript(WATCH);

  /** From a person's action to the first element that the selector finds. */
  async measureFirst(what: string, selector: string, act: () => Promise<void>): Promise<number> {
    const startedAt =
      await this.#number(`Object.assign(largeWatch, { rows: ${JSON.stringify(selector)}, firstRowAt: null })
      && performance.now()`);
    await act();
    await until(what, () => this.#page.evaluate('largeWatch.firstRowAt !== null') as Promise<boolean>);
    return (await this.#number('largeWatch.firstRowAt')) - startedAt;
  }

  async measure(list: LargeList, leave: () => Promise<void>): Promise<LargeFigures> {
    const before = await this.#usedBytes();
    await this.#page.evaluate(`performance.clearResourceTimings();
      Object.assign(largeWatch, { rows: ${JSON.stringify(list.rows)}, firstRowAt: null })`);
    await list.open(this.#page);
    await until(
      `rows of ${list.name}`,
      () => this.#page.evaluate('largeWatch.firstRowAt !== null') as Promise<boolean>,
      {
        limitMs: 20_000,
      },
    );
    const tasks = await TaskTrace.start(this.#page.context().browser() as Browser);
    const rows = await this.#scrollThrough(list);
    await list.waitForEnd(this.#page);
    const [longestTaskMs = 0] = await tasks.stop();
    const firstRowMs = await this.#firstRowMs(list);
    await leave();
    return { firstRowMs, longestTaskMs, rows, leftBytes: (await this.#usedBytes()) - before };
  }

  /** Resolves to the most rows that the document had. */
  async #scrollThrough({ box, rows, isUpwards }: LargeList): Promise<number> {
    const scroller = box === undefined ? 'document.scrollingElement' : `document.querySelector(${JSON.stringify(box)})`;
    await this.#page.locator(rows).first().hover();
    let most = 0;
    let position = Number.NaN;
    for (let wheels = 0, still = 0; still < STILL_WHEELS; wheels += 1) {
      if (wheels === MAX_WHEELS) throw new Shortfall(`wheels: expected the end of the list, found ${position} px.`);
      await this.#page.mouse.wheel(0, isUpwards ? -WHEEL_PX : WHEEL_PX);
      const [next = 0, count = 0] = (await this.#page.evaluate(`${FRAME}.then(() => {
        const { scrollTop, scrollHeight } = ${scroller};
        return [${isUpwards ? 'scrollHeight - scrollTop' : 'scrollTop'}, document.querySelectorAll(${JSON.stringify(rows)}).length];
      })`)) as number[];
      still = next === position ? still + 1 : 0;
      position = next;
      most = Math.max(most, count);
      // At an end that is not the last, further rows are on their way.
      if (still > 0) await this.#page.waitForTimeout(50);
    }
    return most;
  }

  async #firstRowMs({ request, name }: LargeList): Promise<number> {
    const entries = `performance.getEntriesByType('resource').filter(({ name }) => name.includes(${JSON.stringify(request)}))`;
    await until(`answer of ${name}`, async () => (await this.#number(`${entries}.length`)) > 0, { limitMs: 20_000 });
    // The answer with the events is a stream, so its beginning counts; a list is parsed at its end.
    return this.#number(
      `largeWatch.firstRowAt - ${entries}[0].${request.endsWith('/events') ? 'responseStart' : 'responseEnd'}`,
    );
  }

  async #number(expression: string): Promise<number> {
    return (await this.#page.evaluate(expression)) as number;
  }

  async #usedBytes(): Promise<number> {
    await this.#session.send('HeapProfiler.collectGarbage');
    await this.#session.send('HeapProfiler.collectGarbage');
    const { usedSize } = await this.#session.send('Runtime.getHeapUsage');
    return usedSize;
  }
}
