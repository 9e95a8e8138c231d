import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import type { ApiClient } from '@runwire/test-kit';
import { inGate } from '@runwire/test-kit/scale.ts';
import type { Page } from 'playwright-core';
import { axeFindings } from './axe-check.ts';
import type { ConsoleRig } from './console-rig.ts';
import type { PageWatch, WantedError } from './page-watch.ts';
import type { Seed } from './seed.ts';

/** One way through the console that a person takes. It finds everything by role and label, as a screen reader does. */
export interface ConsoleVisit {
  /** Unique, in words with hyphens. */
  readonly name: string;
  /** False if the visit begins on a page without a session. */
  readonly signedIn?: false;
  run(visit: VisitContext): Promise<void>;
}

export interface VisitContext {
  readonly page: Page;
  /** The API with the key of the owner who is signed in, past any proxy. */
  readonly api: ApiClient;
  /** The integration that has most of the seeded data. */
  readonly integration: string;
  readonly seed: Seed;
  readonly width: number;
  /** For what a person cannot do: stop the server, ask its store, decide what the model answers. */
  readonly rig: ConsoleRig;
  /** The absolute address of a page of the console, from its path, such as `keys`. */
  url(path: string): string;
  /** Opens a page of the console, waits until it is quiet and checks that nothing has moved. */
  open(path: string): Promise<void>;
  /** A name that no other visit uses, at any width. */
  unique(name: string): string;
  /** While the action runs, answers with this status are wanted, and at least one must arrive. */
  expectRefusal<T>(wanted: WantedError, action: () => Promise<T>): Promise<T>;
  /**
   * Waits until the page is quiet and checks it in light and dark: axe has no finding, the browser has logged nothing,
   * nothing was fetched from elsewhere, nothing is wider than the page, and nothing moved before the first input. The
   * name is that of the screenshots.
   */
  checkPage(name: string): Promise<void>;
}

/** What a visit has found. */
export interface VisitReport {
  /** The pages that it checked. */
  readonly pages: number;
  /** Findings of axe. */
  readonly axe: number;
  /** Everything else that a page must not do or a visit did not find, as `PageWatch` names it. */
  readonly messages: number;
  /** Violations of the content security policy, which are also among the messages. */
  readonly violations: number;
  /** Requests to other origins, which are also among the messages. */
  readonly foreign: number;
  /** One line for each finding and message, with the visit, the width and the page. */
  readonly problems: readonly string[];
}

export interface Viewport {
  readonly width: number;
  readonly height: number;
}

const SCHEMES = inGate() ? (['light'] as const) : (['light', 'dark'] as const);
const SCREENSHOTS = resolve(import.meta.dirname, '../../.work/console-screenshots');
const OVERFLOW = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';

/** Runs one visit in a new page. A page with problems does not end the visit. */
export async function runVisit(
  { rig, seed }: { readonly rig: ConsoleRig; readonly seed: Seed },
  visit: ConsoleVisit,
  viewport: Viewport,
): Promise<VisitReport> {
  const { width } = viewport;
  const page = await rig.openPage({ ...viewport, signedIn: visit.signedIn ?? true });
  const checks = new PageChecks(rig.getWatch(page), page, `${visit.name} at ${width}`, width);
  try {
    await visit.run({
      page,
      api: rig.api,
      integration: seed.integration,
      seed,
      width,
      rig,
      url: (path) => rig.url(path),
      open: async (path) => {
        await page.goto(rig.url(path));
        await rig.getWatch(page).quiet();
        await checks.checkShifts(path);
      },
      unique: (name) => `${name} ${visit.name} ${width}`,
      expectRefusal: (wanted, action) => rig.expectError(page, wanted, action),
      checkPage: (name) => checks.check(name),
    });
    await checks.finish();
  } catch (error) {
    checks.fail(error);
    await checks.screenshot(`failed-${visit.name}`).catch(() => {});
  } finally {
    await page.context().close();
    // A visit that failed may have left the server stopped.
    if (!rig.server.isAlive) await rig.startServer();
  }
  return checks.report;
}

/** The sentences of Playwright have colours. The line of the visit that failed is enough of the stack. */
function toSentence(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const line = (error.stack ?? '').split('\n').find((each) => each.includes('/visits/')) ?? '';
  return stripVTControlCharacters(`${error.message.trim()} ${line.trim()}`);
}

class PageChecks {
  readonly #watch: PageWatch;
  readonly #page: Page;
  readonly #label: string;
  readonly #width: number;
  readonly #problems: string[] = [];
  #pages = 0;
  #axe = 0;

  constructor(watch: PageWatch, page: Page, label: string, width: number) {
    this.#watch = watch;
    this.#page = page;
    this.#label = label;
    this.#width = width;
  }

  get report(): VisitReport {
    const problems = this.#problems;
    const { violations, foreign } = this.#watch;
    const messages = problems.length - this.#axe;
    return { pages: this.#pages, axe: this.#axe, messages, violations, foreign, problems };
  }

  async checkShifts(page: string): Promise<void> {
    await this.#watch.checkShifts();
    this.#add(page, this.#watch.takeProblems());
  }

  async check(name: string): Promise<void> {
    this.#pages += 1;
    await this.#watch.quiet();
    await this.checkShifts(name);
    for (const colorScheme of SCHEMES) {
      await this.#page.emulateMedia({ colorScheme });
      await this.#watch.quiet();
      await this.screenshot(name, colorScheme);
      const findings = await axeFindings(this.#watch.session);
      this.#axe += findings.length;
      const overflow = (await this.#page.evaluate(OVERFLOW)) as number;
      this.#add(`${name}, ${colorScheme}`, [
        ...findings.map((finding) => `axe: ${finding}`),
        ...(overflow > 0 ? [`overflow: the document is ${overflow} px wider than the page`] : []),
        ...this.#watch.takeProblems(),
      ]);
    }
    await this.#page.emulateMedia({ colorScheme: SCHEMES[0] });
  }

  /** Adds what happened after the last check. */
  async finish(): Promise<void> {
    await this.#watch.quiet();
    this.#add('after the last page', this.#watch.takeProblems());
  }

  fail(error: unknown): void {
    this.#add(`at ${this.#page.url()}`, [toSentence(error), ...this.#watch.takeProblems()]);
  }

  #add(page: string, problems: readonly string[]): void {
    this.#problems.push(...problems.map((problem) => `${this.#label}: ${page}: ${problem}`));
  }

  async screenshot(name: string, scheme: string = SCHEMES[0]): Promise<void> {
    if (process.env.CONSOLE_SCREENSHOTS === undefined) return;
    mkdirSync(SCREENSHOTS, { recursive: true });
    const path = join(SCREENSHOTS, `${name}-${this.#width}-${scheme}.png`);
    await this.#page.screenshot({ path, fullPage: true, caret: 'initial' });
  }
}
