import type { Page } from 'playwright-core';

/** A moment at which the page moved something, without a recent input of the person. */
export interface LayoutShift {
  /** As the browser computes it: the sum of a calm page is below 0.1. */
  readonly value: number;
  /** True if the person has done nothing since the document was opened. */
  readonly isOpening: boolean;
  /** One line for each element that moved. */
  readonly moved: readonly string[];
}

/** What a page did while it was measured. */
export interface PageFigures {
  readonly shifts: readonly LayoutShift[];
  /** How many blocks of text that were finished earlier are other elements now. */
  readonly madeAgain: number;
}

/**
 * Runs in each new document, before its scripts. After an input the browser ignores shifts for 500 ms only, and a server
 * under load answers later, so the first input is noted too.
 */
export const COLLECT_SHIFTS = `(() => {
  let shifts = [];
  let inputAt = Infinity;
  const noteInput = () => { inputAt = Math.min(inputAt, performance.now()); };
  for (const type of ['pointerdown', 'keydown', 'wheel', 'input', 'change']) addEventListener(type, noteInput, true);
  const toLine = ({ node, previousRect, currentRect }) => {
    const element = node instanceof Element ? node : node?.parentElement;
    const [from, to] = [previousRect, currentRect].map((rect) => Math.round(rect.left) + ',' + Math.round(rect.top));
    return (element?.outerHTML.slice(0, 120) ?? 'a removed element') + ' from ' + from + ' to ' + to;
  };
  const note = (entries) => {
    for (const { value, startTime, hadRecentInput, sources } of entries) {
      if (!hadRecentInput) shifts.push({ value, isOpening: startTime < inputAt, moved: sources.map(toLine) });
    }
  };
  const observer = new PerformanceObserver((list) => note(list.getEntries()));
  observer.observe({ type: 'layout-shift', buffered: true });
  window.takeShifts = () => {
    note(observer.takeRecords());
    const taken = shifts;
    shifts = [];
    return taken;
  };
})()`;

/** Resolves to the layout shifts since the document was opened or since the last call. */
export async function takeShifts(page: Page): Promise<readonly LayoutShift[]> {
  // A page that no visit has opened yet does not have the function.
  return (await page.evaluate('window.takeShifts?.() ?? []')) as readonly LayoutShift[];
}

const KEEP = `window.kept = [...document.querySelectorAll('.answer .markdown > *')].slice(0, -3)`;
const STOP = `({ kept: window.kept.length, madeAgain: window.kept.filter((element) => !element.isConnected).length })`;

/** Layout shifts and elements of a page. They end with a reload of the page. */
export class PageMeasures {
  readonly #page: Page;

  private constructor(page: Page) {
    this.#page = page;
  }

  static async start(page: Page): Promise<PageMeasures> {
    await takeShifts(page);
    return new PageMeasures(page);
  }

  /** Remembers the blocks of text that are finished now. */
  async keepFinished(): Promise<void> {
    await this.#page.evaluate(KEEP);
  }

  async scrollTop(): Promise<number> {
    return (await this.#page.evaluate('window.scrollY')) as number;
  }

  async stop(): Promise<PageFigures> {
    const { kept, madeAgain } = (await this.#page.evaluate(STOP)) as Record<'kept' | 'madeAgain', number>;
    if (kept === 0) throw new Error('No block of text was finished when the blocks were looked at.');
    return { shifts: await takeShifts(this.#page), madeAgain };
  }
}
