import { freePort, Rig, type ServerOptions, type ServerProcess, type StoreName } from '@runwire/test-kit';
import { type Browser, chromium, type Page } from 'playwright-core';
import { AgenciesFolder, type Files } from '../support/agencies-folder.ts';
import { askStore } from '../support/ask-store.ts';
import { listSamples } from '../support/doc-samples.ts';
import { Nginx } from '../support/nginx.ts';
import { CHROMIUM } from '../support/services.ts';
import { PageWatch, type WantedError } from './page-watch.ts';
import { ScriptedAnswers } from './scripted-answers.ts';
import { SEED_AGENCIES } from './seed-agencies.ts';
import { FIRST_OWNER, fillSignIn, setUp, signedIn } from './sign-in-pages.ts';

export interface ConsoleRigOptions {
  /** SQLite by default. */
  readonly store?: StoreName;
  /** Built files of the console; the committed ones by default. */
  readonly consoleFolder?: string;
  /** A path with a slash at both ends, below which nginx publishes the server. */
  readonly prefix?: string;
  /** The agencies' files; those of the seeded data by default. */
  readonly agencies?: Files;
  readonly env?: Readonly<Record<string, string>>;
  readonly limits?: NonNullable<ServerOptions['limits']>;
}

export interface PageOptions {
  readonly width?: number;
  readonly height?: number;
  readonly colorScheme?: 'light' | 'dark';
  readonly reducedMotion?: 'reduce' | 'no-preference';
  /** True if the page has the first owner's session. */
  readonly signedIn?: boolean;
}

type StorageState = Awaited<ReturnType<ReturnType<Page['context']>['storageState']>>;

/** How long Playwright waits for an element. Under load a page can take 10 s. */
const FIND_MS = 30_000;
/** As the documentation has it, and without temporary files, which Debian's user of nginx may not be able to write. */
function proxySettings(): string {
  const [sample = ''] = listSamples('docs/console.md', 'nginx');
  const settings = sample.split('\n').filter((line) => /^ +(?!proxy_pass)\S.*;$/.test(line));
  return [...settings, 'proxy_max_temp_file_size 0;'].join(' ');
}

interface ServerSettings extends Pick<ConsoleRigOptions, 'limits'> {
  readonly consoleFolder?: string;
  readonly env: Readonly<Record<string, string>>;
}

interface ConsoleParts extends Pick<ConsoleRig, 'browser' | 'agencies' | 'baseUrl'> {
  readonly rig: Rig;
  readonly settings: ServerSettings;
}

/** A real server in a process of its own, maybe nginx in front of it, and a real browser whose pages are watched. */
export class ConsoleRig implements AsyncDisposable {
  readonly browser: Browser;
  /** The server watches it, so a visit can change an agency. */
  readonly agencies: AgenciesFolder;
  /** The server's address for browsers, without a slash at the end. */
  readonly baseUrl: string;
  /** Decides what the model answers. */
  readonly model: ScriptedAnswers;
  readonly #rig: Rig;
  readonly #stack: AsyncDisposableStack;
  readonly #settings: ServerSettings;
  readonly #watches = new WeakMap<Page, PageWatch>();
  #setupLink: string | null = null;
  #session: StorageState | null = null;

  private constructor({ rig, browser, agencies, baseUrl, settings }: ConsoleParts, stack: AsyncDisposableStack) {
    this.#rig = rig;
    this.browser = browser;
    this.agencies = agencies;
    this.baseUrl = baseUrl;
    this.#settings = settings;
    this.#stack = stack;
    this.model = new ScriptedAnswers(rig.model);
  }

  /** Starts everything but the server; `startServer` starts it. */
  static async open(options: ConsoleRigOptions = {}): Promise<ConsoleRig> {
    const { store, consoleFolder, prefix, agencies: files = SEED_AGENCIES, env = {}, limits } = options;
    await using building = new AsyncDisposableStack();
    // The port is chosen here, so that the server is found at the same address after a restart.
    const port = await freePort();
    const local = `http://127.0.0.1:${port}`;
    const nginx = prefix === undefined ? null : building.use(await Nginx.start(local, proxySettings(), prefix));
    const baseUrl = nginx === null ? local : `${nginx.url}${prefix}`.replace(/\/$/, '');
    const rig = building.use(await Rig.open({ nodes: store === 'postgres' ? 1 : null }));
    const agencies = building.use(new AgenciesFolder(files));
    const settings = {
      ...(consoleFolder === undefined ? {} : { consoleFolder }),
      ...(limits === undefined ? {} : { limits }),
      env: {
        PORT: String(port),
        RUNWIRE_AGENCIES_DIR: agencies.path,
        RUNWIRE_AGENCIES_WATCH: 'true',
        ...(nginx === null ? {} : { RUNWIRE_PUBLIC_URL: baseUrl, RUNWIRE_TRUSTED_PROXIES: '127.0.0.1' }),
        ...env,
      },
    };
    const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] });
    building.defer(() => browser.close());
    return new ConsoleRig({ rig, browser, agencies, baseUrl, settings }, building.move());
  }

  static async start(options: ConsoleRigOptions = {}): Promise<ConsoleRig> {
    const rig = await ConsoleRig.open(options);
    try {
      await rig.startServer();
      return rig;
    } catch (error) {
      await rig[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Starts the server, for the first time or again. `aheadMs` moves its clock; it is negative for the past. */
  async startServer({ aheadMs = 0 } = {}): Promise<void> {
    const server = await this.#rig.add({ ...this.#settings, withTestAgencies: false, aheadMs });
    this.#setupLink ??= server.setupLink;
  }

  /** Stops the server as an operator does, or by SIGKILL. */
  async stopServer(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    await this.server.kill(signal);
  }

  /** The server that was started last. */
  get server(): ServerProcess {
    return this.#rig.server(this.#rig.servers.length - 1);
  }

  /** The API with the first owner's key, past nginx. */
  get api() {
    return this.server.api;
  }

  /** Runs one statement on the store, for what no operation does. */
  ask(statement: string): Promise<Record<string, unknown>[]> {
    return this.#rig.isEmbedded ? askStore(this.#rig.dataDir, statement) : this.#rig.query(statement);
  }

  /** The folder of the embedded store. */
  get dataDir(): string {
    return this.#rig.dataDir;
  }

  /** The link with which the first owner sets a password. */
  get setupLink(): string {
    if (this.#setupLink === null) throw new Error('The server has not printed a set-up link.');
    return this.#setupLink;
  }

  /** The absolute address of a page of the console. */
  url(path: string): string {
    return `${this.baseUrl}/console/${path}`;
  }

  /** Opens an empty page in a context of its own, and watches it. */
  async openPage(options: PageOptions = {}): Promise<Page> {
    const { width = 1280, height = 800, colorScheme = 'light', reducedMotion = 'no-preference' } = options;
    const context = await this.browser.newContext({
      viewport: { width, height },
      colorScheme,
      reducedMotion,
      locale: 'en-GB',
      timezoneId: 'UTC',
      ...(options.signedIn === true ? { storageState: await this.#signedInState() } : {}),
    });
    context.setDefaultTimeout(FIND_MS);
    const page = await context.newPage();
    this.#watches.set(page, await PageWatch.attach(page, new URL(this.baseUrl).origin));
    return page;
  }

  getWatch(page: Page): PageWatch {
    const watch = this.#watches.get(page);
    if (watch === undefined) throw new Error('The page was not opened by this rig.');
    return watch;
  }

  /** While the action runs, these errors of the page are wanted. At least one must happen. */
  expectError<T>(page: Page, wanted: WantedError, action: () => Promise<T>): Promise<T> {
    return this.getWatch(page).expectError(wanted, action);
  }

  /** Signs the first owner in: through the set-up link at first, later by e-mail and password. */
  async signIn(page: Page): Promise<void> {
    if (this.#session === null) await setUp(page, this.setupLink, FIRST_OWNER);
    else {
      await page.goto(this.url(''));
      await fillSignIn(page, FIRST_OWNER);
      await signedIn(page);
    }
    this.#session = await page.context().storageState();
  }

  /** Later pages share the session of the first one. */
  async #signedInState(): Promise<StorageState> {
    if (this.#session === null) {
      const page = await this.openPage();
      await this.signIn(page);
      await page.context().close();
    }
    return this.#session as unknown as StorageState;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stack.disposeAsync();
  }
}
