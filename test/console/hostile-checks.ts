import { Shortfall, within } from '@runwire/test-kit/shortfall.ts';
import type { Page } from 'playwright-core';

/* What no page may have or do, whatever it shows. */

/** Runs in the page. Returns the elements that could run or fetch something, or lead to a page that could. */
const ACTIVE_CONTENT = `(() => {
  const own = new URL(document.baseURI).origin;
  const addresses = ['href', 'src', 'xlink:href', 'action', 'formaction', 'poster', 'data'];
  const forbidden = ['script', 'iframe', 'frame', 'object', 'embed', 'base', 'link', 'meta', 'style', 'applet'];
  const isActiveAttribute = (element, { name, value }) => {
    if (name.startsWith('on') || name === 'srcdoc' || name === 'srcset') return true;
    if (!addresses.includes(name)) return false;
    const { protocol, origin } = new URL(value, document.baseURI);
    if (protocol === 'blob:' && element.localName === 'img') return false;
    if (!['http:', 'https:', 'mailto:'].includes(protocol)) return true;
    if (element.localName !== 'a') return origin !== own;
    return origin !== own && !(element.getAttribute('rel') ?? '').includes('noopener');
  };
  return [...document.querySelectorAll('body *')]
    .filter((element) => forbidden.includes(element.localName) || element.matches('a a')
      || [...element.attributes].some((attribute) => isActiveAttribute(element, attribute)))
    .map((element) => element.outerHTML.slice(0, 200));
})()`;

const SHOWN_TEXT = 'document.body.textContent';
const OVERFLOW = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
const SCRIPT_RAN = "'hostile' in window";
const TWO_FRAMES = 'new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))';

/** A page that takes longer to draw two frames hangs. */
const FRAMES_MS = 5000;

export interface ShownTexts {
  /** The page shows these whole. */
  readonly texts: readonly string[];
  /** The page shows at least these words. */
  readonly marks: readonly string[];
}

/** Looks for everything that a hostile text can do to a page. */
export class HostileWatch {
  readonly #page: Page;
  #opened = 0;
  /** How many pages ran a script of a text. */
  scripts = 0;

  constructor(page: Page) {
    this.#page = page;
    page.on('dialog', (dialog) => {
      this.#opened += 1;
      void dialog.dismiss();
    });
    page.context().on('page', () => {
      this.#opened += 1;
    });
  }

  /** Throws a `Shortfall` unless the page shows the texts, and only shows them. */
  async check({ texts, marks }: ShownTexts): Promise<void> {
    const page = this.#page;
    const shown = String(await page.evaluate(SHOWN_TEXT));
    const missing = [...texts, ...marks].filter((text) => !shown.includes(text));
    const active = (await page.evaluate(ACTIVE_CONTENT)) as readonly string[];
    const wider = (await page.evaluate(OVERFLOW)) as number;
    const ran = (await page.evaluate(SCRIPT_RAN)) as boolean;
    if (ran) this.scripts += 1;
    const problems = [
      ...missing.map((text) => `not shown: ${JSON.stringify(text.slice(0, 120))}`),
      ...active.map((element) => `active content: ${element}`),
      ...(wider > 0 ? [`overflow: the document is ${wider} px wider than the page`] : []),
      ...(ran ? ['a script of a text ran'] : []),
      ...(this.#opened > 0 ? [`${this.#opened} dialogs or windows opened`] : []),
    ];
    if (problems.length > 0) throw new Shortfall(problems.join('; '));
    await within('two frames of the page', FRAMES_MS, page.evaluate(TWO_FRAMES));
  }
}
