import { Shortfall, until } from '@runwire/test-kit/shortfall.ts';
import type { BrowserContext, CDPSession, ConsoleMessage, Page, Request } from 'playwright-core';
import { COLLECT_SHIFTS, takeShifts } from './page-measures.ts';

/** Statuses that a visit wants, or `outage`: the server is away, so requests fail or a proxy answers for it. */
export type WantedError = number | readonly number[] | 'outage';

const QUIET_MS = 250;
const MAX_LOADING_MS = 20_000;
const WANTED_MS = 10_000;
const PROXY_STATUSES = [502, 503, 504];
/** A page whose sum of layout shifts is at most this counts as calm (web.dev/cls). */
const MAX_SHIFT = 0.1;
/** Advice about automatic filling of forms. */
const ADVICE = 'GenericIssue';

const LOADING = `document.querySelectorAll('[aria-busy="true"]').length
  + document.getAnimations().filter((one) => one.playState === 'running'
    && one.effect?.getComputedTiming().endTime !== Infinity).length`;

interface WantedWindow {
  readonly statuses: readonly number[];
  readonly isOutage: boolean;
  seen: number;
}

/**
 * Everything that a page must not do: messages in the browser's console, errors, violations of its policy, refused
 * or failed requests that the visit did not announce, requests to other origins, and layout shifts while it opens.
 */
export class PageWatch {
  readonly session: CDPSession;
  readonly #page: Page;
  readonly #origin: string;
  readonly #messages: ConsoleMessage[] = [];
  readonly #problems: string[] = [];
  readonly #open = new Set<Request>();
  readonly #windows = new Set<WantedWindow>();
  /** The failures that a visit announced. Browsers log each of them, with its address. */
  readonly #wanted = new Set<string>();
  #changedAt = performance.now();
  /** Requests to other origins so far. */
  foreign = 0;
  /** Violations of the content security policy so far. */
  violations = 0;

  private constructor(page: Page, session: CDPSession, origin: string) {
    this.#page = page;
    this.session = session;
    this.#origin = origin;
  }

  /** Watches a new page, and the pages that it opens. */
  static async attach(page: Page, origin: string): Promise<PageWatch> {
    const context = page.context();
    const session = await context.newCDPSession(page);
    const watch = new PageWatch(page, session, origin);
    watch.#listen(context);
    session.on('Audits.issueAdded', ({ issue }) => {
      if (issue.code === ADVICE) return;
      if (issue.code === 'ContentSecurityPolicyIssue') watch.violations += 1;
      watch.#problems.push(`issue: ${issue.code} ${JSON.stringify(issue.details)}`);
    });
    await session.send('Audits.enable');
    await page.addInitScript(COLLECT_SHIFTS);
    return watch;
  }

  #listen(context: BrowserContext): void {
    // Messages of the browser itself are among them, for example about a refused request.
    context.on('console', (message) => this.#messages.push(message));
    context.on('weberror', (error) => this.#problems.push(`error: ${error.error().stack ?? error.error().message}`));
    context.on('request', (request) => {
      this.#changed();
      this.#open.add(request);
      const { protocol, origin } = new URL(request.url());
      if (protocol === 'blob:' || origin === this.#origin) return;
      this.foreign += 1;
      this.#problems.push(`foreign request: ${request.method()} ${request.url()}`);
    });
    context.on('response', (response) => {
      // A stream stays open while its page is quiet.
      const isStream = (response.headers()['content-type'] ?? '').startsWith('text/event-stream');
      if (isStream) this.#closed(response.request());
      const status = response.status();
      if (status < 400) return;
      const what = `${response.request().method()} ${response.url()}: ${status}`;
      const isWanted = ({ statuses, isOutage }: WantedWindow) =>
        statuses.includes(status) || (isOutage && PROXY_STATUSES.includes(status));
      this.#failed(what, `${status} ${response.url()}`, isWanted);
    });
    context.on('requestfinished', (request) => this.#closed(request));
    context.on('requestfailed', (request) => {
      this.#closed(request);
      const text = request.failure()?.errorText ?? 'failed';
      // The page itself has given the request up.
      if (text === 'net::ERR_ABORTED') return;
      this.#failed(`${request.method()} ${request.url()}: ${text}`, `outage ${request.url()}`, (one) => one.isOutage);
    });
  }

  #changed(): void {
    this.#changedAt = performance.now();
  }

  #closed(request: Request): void {
    this.#changed();
    this.#open.delete(request);
  }

  #failed(what: string, key: string, isWanted: (window: WantedWindow) => boolean): void {
    const window = [...this.#windows].find(isWanted);
    if (window === undefined) {
      this.#problems.push(`request: ${what}`);
      return;
    }
    window.seen += 1;
    this.#wanted.add(key);
  }

  /** While the action runs, these errors are wanted. At least one must happen. */
  async expectError<T>(wanted: WantedError, action: () => Promise<T>): Promise<T> {
    const isOutage = wanted === 'outage';
    const window = { statuses: isOutage ? [] : [wanted].flat(), isOutage, seen: 0 };
    this.#windows.add(window);
    try {
      const result = await action();
      await until(`wanted error ${wanted}`, () => window.seen > 0, { limitMs: WANTED_MS });
      return result;
    } finally {
      this.#windows.delete(window);
    }
  }

  /** Resolves when no request has been open for a moment, nothing is busy and no animation runs. */
  async quiet(): Promise<void> {
    for (const end = performance.now() + MAX_LOADING_MS; ; ) {
      const isStill = this.#open.size === 0 && performance.now() - this.#changedAt > QUIET_MS;
      if (isStill && (await this.#page.evaluate(LOADING)) === 0) return;
      if (performance.now() > end) {
        const open = [...this.#open].map((request) => `${request.method()} ${request.url()}`);
        throw new Shortfall(`quiet page: expected, found ${open.join(', ') || 'something busy or an animation'}.`);
      }
      await this.#page.waitForTimeout(QUIET_MS / 5);
    }
  }

  /** Adds a problem if the page moved what it showed, since the last call and before the person did something. */
  async checkShifts(): Promise<void> {
    const shifts = (await takeShifts(this.#page)).filter(({ isOpening }) => isOpening);
    const sum = shifts.reduce((total, { value }) => total + value, 0);
    if (sum <= MAX_SHIFT) return;
    const moved = shifts.flatMap((shift) => shift.moved.map((line) => `${shift.value.toFixed(3)} ${line}`));
    this.#problems.push(`layout shifts: ${sum.toFixed(3)}: ${moved.join('; ')}`);
  }

  /** Returns everything that the page did wrong since the last call. */
  takeProblems(): string[] {
    const unwanted = this.#messages.filter((message) => !this.#isLogOfWanted(message));
    const messages = unwanted.map((message) => {
      const { url, lineNumber } = message.location();
      return `console: ${message.type()}: ${message.text()} (${url}:${lineNumber})`;
    });
    this.#messages.length = 0;
    return [...messages, ...this.#problems.splice(0)];
  }

  /** The log of the browser about a request that a visit wanted to fail. */
  #isLogOfWanted(message: ConsoleMessage): boolean {
    const { url } = message.location();
    const [, status] =
      /^Failed to load resource: the server responded with a status of (\d+) /.exec(message.text()) ?? [];
    if (status !== undefined) return this.#wanted.has(`${status} ${url}`);
    return /^Failed to load resource: net::ERR_\w+$/.test(message.text()) && this.#wanted.has(`outage ${url}`);
  }
}
