import type { Page } from 'playwright-core';

/** What a page did while it was measured. */
export interface PageFigures {
  /** One line for each element that moved although the person did nothing. */
  readonly shifts: readonly string[];
  /** How many blocks of text that were finished earlier are other elements now. */
  readonly madeAgain: number;
}

/** Runs in the page. */
const START = `(() => {
  const measures = { shifts: [], kept: [] };
  window.measures = measures;
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      if (entry.hadRecentInput) continue;
      for (const { node, previousRect, currentRect } of entry.sources) {
        const element = node instanceof Element ? node : node?.parentElement;
        const by = Math.round(currentRect.top - previousRect.top);
        measures.shifts.push((element?.outerHTML.slice(0, 120) ?? 'a removed element') + ' by ' + by + ' px');
      }
    }
  }).observe({ type: 'layout-shift' });
})()`;

const KEEP = `window.measures.kept = [...document.querySelectorAll('.answer .markdown > *')].slice(0, -3)`;
const STOP = `(() => {
  const { shifts, kept } = window.measures;
  return { shifts, kept: kept.length, madeAgain: kept.filter((element) => !element.isConnected).length };
})()`;

/** Layout shifts and elements of a page. They end with a reload of the page. */
export class PageMeasures {
  readonly #page: Page;

  private constructor(page: Page) {
    this.#page = page;
  }

  static async start(page: Page): Promise<PageMeasures> {
    await page.evaluate(START);
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
    const { kept, ...measured } = (await this.#page.evaluate(STOP)) as PageFigures & { readonly kept: number };
    if (kept === 0) throw new Error('No block of text was finished when the blocks were looked at.');
    return measured;
  }
}
