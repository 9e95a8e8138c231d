import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort, type ModelCall, Rig, type ServerProcess, SHORT_LEASE, TEST_API_KEY } from '@runwire/test-kit';
import { expectEqual, Shortfall, until, WAIT_MS } from '@runwire/test-kit/shortfall.ts';
import { build } from 'esbuild';
import { type Browser, chromium, type Page } from 'playwright-core';
import { AgenciesFolder } from './agencies-folder.ts';
import { root } from './cli-process.ts';
import { listSamples } from './doc-samples.ts';
import { CHROMIUM } from './services.ts';

const TOOLS = `import { defineTool } from '@runwire/agency';

const input = { type: 'object' };

export const find_order = defineTool({ name: 'find_order', description: 'Finds.', inputSchema: input, execute: () => 'found' });
export const position = defineTool({ name: 'position', description: 'Where the user is.', inputSchema: input });
export const refund = defineTool({
  name: 'refund',
  description: 'Pays money back.',
  inputSchema: input,
  needsApproval: true,
  execute: ({ cents }) => \`refunded \${cents}\`,
});
`;

const AGENCY = `name: Desk
toolFiles: [./tools.ts]
agents:
  - name: Desk
    instructions: Help.
    tools: [find_order, position, refund]
    files: false
`;

/** The integration and the member of the documentation's sample. A new server has the integration. */
const INTEGRATION = 'demo';
const MEMBER = 'user-42';
const PATH = `/v2/integrations/${INTEGRATION}`;

interface RunRecord {
  readonly runId: string;
  readonly status: string;
  readonly attempt: number;
  readonly continues: string | null;
}

/** A node at a fixed address, and the sample's backend and page for it. */
interface Site {
  readonly serverPort: number;
  readonly address: string;
}

interface StageParts {
  readonly rig: Rig;
  readonly browser: Browser;
  readonly agencies: AgenciesFolder;
  /** Has the sample's files. */
  readonly folder: string;
}

/**
 * The backend and the page of docs/ai-sdk.md, as a reader pastes them, with Chromium and two nodes on PostgreSQL. A
 * page's origin is its backend's, so it talks to its node across origins, with a client token.
 */
export class UseChatStage implements AsyncDisposable {
  readonly #rig: Rig;
  readonly #browser: Browser;
  readonly #agencies: AgenciesFolder;
  readonly #folder: string;
  readonly #sites: Site[] = [];
  readonly #stack: AsyncDisposableStack;
  /** Decides what the model answers. */
  script: (call: ModelCall) => Promise<void> = async (call) => call.end();

  private constructor({ rig, browser, agencies, folder }: StageParts, stack: AsyncDisposableStack) {
    this.#rig = rig;
    this.#browser = browser;
    this.#agencies = agencies;
    this.#folder = folder;
    this.#stack = stack;
    rig.model.onCall = (call) => {
      // If the server dies or the run is cancelled, writing fails.
      this.script(call).catch(() => {});
    };
  }

  /** `guide` is the page of the documentation that has the sample. */
  static async start(guide: string): Promise<UseChatStage> {
    await using building = new AsyncDisposableStack();
    const rig = building.use(await Rig.open({ nodes: 2, limits: SHORT_LEASE }));
    const agencies = building.use(new AgenciesFolder({ 'desk/agency.yaml': AGENCY, 'desk/tools.ts': TOOLS }));
    mkdirSync(join(root, '.work'), { recursive: true });
    const folder = mkdtempSync(join(root, '.work/use-chat-'));
    building.defer(() => rmSync(folder, { recursive: true, force: true }));
    await writeSample(guide, folder);
    const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] });
    building.defer(() => browser.close());
    const stage = new UseChatStage({ rig, browser, agencies, folder }, building.move());
    try {
      await stage.#prepare();
      return stage;
    } catch (error) {
      await stage[Symbol.asyncDispose]();
      throw error;
    }
  }

  async #prepare(): Promise<void> {
    for (const node of [0, 1]) this.#sites[node] = await this.#openSite();
    const integration = { agency: 'desk', allowances: { unit: 'runs', limit: 1000, period: 'month' } };
    expectEqual('status of the integration', (await this.api.patch(PATH, integration)).status, 200);
    expectEqual('status of the member', (await this.api.put(`${PATH}/members/${MEMBER}`, {})).status, 201);
  }

  async #openSite(): Promise<Site> {
    const { url } = await this.#addServer(0);
    const serverPort = Number(new URL(url).port);
    return { serverPort, address: await this.#startBackend(url) };
  }

  /** Another program may take the port before the backend listens. Then another port is tried. */
  async #startBackend(url: string): Promise<string> {
    for (;;) {
      const port = await freePort();
      const env = { URL: url, KEY: TEST_API_KEY, PORT: String(port) };
      const child = spawn(process.execPath, ['server.js'], { cwd: this.#folder, env, stdio: 'ignore' });
      this.#stack.defer(() => endProcess(child));
      const address = `http://127.0.0.1:${port}/`;
      const answers = async () => child.exitCode !== null || (await fetch(address).catch(() => null)) !== null;
      await until('the backend answers', answers);
      if (child.exitCode === null) return address;
    }
  }

  #addServer(port: number): Promise<ServerProcess> {
    const env = { PORT: String(port), RUNWIRE_AGENCIES_DIR: this.#agencies.path };
    return this.#rig.add({ withTestAgencies: false, env });
  }

  /** The API of a server that is alive. */
  get api() {
    return this.#rig.server(this.#rig.servers.length - 1).api;
  }

  /** Kills the first node. */
  async killFirst(): Promise<void> {
    await this.#rig.server(0).kill('SIGKILL');
  }

  /** Starts the first node again, at its address. */
  async restartFirst(): Promise<void> {
    await this.#addServer(this.#sites[0]?.serverPort ?? 0);
  }

  /** Opens the chat on this node, in a window of its own. */
  async open(chatId: string, node = 1): Promise<ChatPage> {
    const context = await this.#browser.newContext();
    context.setDefaultTimeout(WAIT_MS);
    const page = await context.newPage();
    await page.goto(`${this.#sites[node]?.address}#${chatId}`);
    return new ChatPage(page);
  }

  /** The chat's runs, oldest first. */
  async listRuns(chatId: string): Promise<readonly RunRecord[]> {
    const { body } = await this.api.get(`${PATH}/runs?chatId=${chatId}`);
    return (body as { readonly items: RunRecord[] }).items.reverse();
  }

  /** The attempt of the chat's newest run. */
  async getAttempt(chatId: string): Promise<number> {
    return (await this.listRuns(chatId)).at(-1)?.attempt ?? 0;
  }

  /** The names of the tools that a run called. */
  async listCalls(runId: string): Promise<readonly string[]> {
    const { body } = await this.api.get(`${PATH}/runs/${runId}/steps`);
    const { items } = body as { readonly items: { readonly kind: string; readonly tool: string }[] };
    return items.filter(({ kind }) => kind === 'tool').map(({ tool }) => tool);
  }

  /** Compares the charges of the member with the runs of all chats. */
  async expectCharges(): Promise<number> {
    const { body: runs } = await this.api.get(`${PATH}/runs?limit=200`);
    const { body: member } = await this.api.get(`${PATH}/members/${MEMBER}`);
    const count = (runs as { readonly items: unknown[] }).items.length;
    expectEqual('charges', (member as { readonly allowance: { readonly used: number } }).allowance.used, count);
    return count;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stack.disposeAsync();
  }
}

/** The sample as a reader pastes it, and the page's bundle. */
async function writeSample(guide: string, folder: string): Promise<void> {
  const [backend = ''] = listSamples(guide, 'js');
  const [page = ''] = listSamples(guide, 'jsx');
  writeFileSync(join(folder, 'server.js'), backend);
  writeFileSync(join(folder, 'page.jsx'), page);
  const bundle = { bundle: true, format: 'esm', jsx: 'automatic', logLevel: 'silent' } as const;
  await build({ ...bundle, entryPoints: [join(folder, 'page.jsx')], outfile: join(folder, 'page.js') });
}

async function endProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGKILL');
  await ended;
}

/** The sample's page in the browser. */
export class ChatPage {
  readonly page: Page;

  constructor(page: Page) {
    this.page = page;
  }

  /** The messages: who wrote them, and their text. */
  async read(): Promise<readonly string[]> {
    return this.page.getByRole('article').evaluateAll((articles) =>
      articles.map((article) => {
        const parts = [...article.querySelectorAll('p')].map((part) => part.textContent);
        return `${article.getAttribute('aria-label')}: ${parts.join(' | ')}`;
      }),
    );
  }

  async readAnswer(): Promise<string> {
    return (await this.read()).findLast((text) => text.startsWith('assistant: '))?.slice('assistant: '.length) ?? '';
  }

  async send(text: string): Promise<void> {
    await this.page.getByRole('textbox', { name: 'Message' }).fill(text);
    await this.click('Send');
  }

  async click(name: string): Promise<void> {
    await this.page.getByRole('button', { name, exact: true }).last().click();
  }

  async reload(): Promise<void> {
    await this.page.reload();
    await this.page.getByRole('textbox', { name: 'Message' }).waitFor();
  }

  async until(what: string, isTrue: (texts: readonly string[]) => boolean): Promise<void> {
    let texts: readonly string[] = [];
    try {
      const look = async () => {
        texts = await this.read();
        return isTrue(texts);
      };
      await until(what, look, { limitMs: 2 * WAIT_MS, pauseMs: 50 });
    } catch {
      throw new Shortfall(
        `${what}: the page shows ${texts.map((text) => text.slice(-200)).join('\n')}, ${await this.#status()}.`,
      );
    }
  }

  /** Waits until the page shows exactly these messages, and the chat is ready. */
  async expect(what: string, messages: readonly string[]): Promise<void> {
    await this.until(what, (texts) => JSON.stringify(texts) === JSON.stringify(messages));
    await this.page.locator('main[data-status="ready"]').waitFor();
    expectEqual(`${what}: messages`, (await this.read()).join('\n'), messages.join('\n'));
  }

  async #status(): Promise<string> {
    const alerts = await this.page.getByRole('alert').allTextContents();
    return `${await this.page.locator('main').getAttribute('data-status')} ${alerts.join(' ')}`;
  }

  async close(): Promise<void> {
    await this.page.context().close();
  }
}
