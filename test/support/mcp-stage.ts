import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { freePort, type ModelCall, Rig, type StreamReader } from '@runwire/test-kit';
import { expectEqual, until, WAIT_MS, within } from '@runwire/test-kit/shortfall.ts';
import { AgenciesFolder, type Files } from './agencies-folder.ts';

/** How long a run waits for servers whose tools are not known, and a call for a server that is not connected. */
const PATIENCE_MS = 5000;
/** What the machine may add to a limit. */
const SLACK_MS = 3000;
export const WAIT_LIMIT_MS = PATIENCE_MS + SLACK_MS;
/** A call that hangs ends after `timeoutSeconds: 1`. */
export const HUNG_LIMIT_MS = 1000 + SLACK_MS;

export type Call = readonly [tool: string, input: object];

/** A run whose model waits for the proof. */
export interface HeldRun {
  readonly agency: string;
  readonly reader: StreamReader;
  readonly call: ModelCall;
  readonly tools: readonly string[];
}

interface McpState {
  readonly server: string;
  readonly state: string;
  readonly tools: number;
}

/** A server with agencies that name MCP servers. */
export class McpStage implements AsyncDisposable {
  readonly rig: Rig;
  readonly folder: AgenciesFolder;
  readonly startMs: number;
  readonly sums = { runs: 0, calls: 0, longest_run_wait_ms: 0 };

  private constructor(rig: Rig, folder: AgenciesFolder, startMs: number) {
    this.rig = rig;
    this.folder = folder;
    this.startMs = startMs;
  }

  static async start(
    fault: string | null,
    agencies: Readonly<Record<string, string>>,
    { env = {}, files = {} }: { readonly env?: Readonly<Record<string, string>>; readonly files?: Files } = {},
  ): Promise<McpStage> {
    const texts = Object.entries(agencies).map(([name, text]) => [`${name}/agency.yaml`, text]);
    const folder = new AgenciesFolder({ ...Object.fromEntries(texts), ...files });
    const rig = await Rig.open({ fault, env: { RUNWIRE_AGENCIES_DIR: folder.path, ...env } });
    const stage = new McpStage(rig, folder, await timed(() => rig.add()));
    for (const agency of Object.keys(agencies)) await rig.prepare({ apiIntegrationId: agency, agency });
    return stage;
  }

  async states(agency: string): Promise<readonly McpState[]> {
    const { items } = (await this.rig.api().get('/v2/agencies?limit=200')).body;
    return items.find((item: { readonly agency: string }) => item.agency === agency)?.mcp ?? [];
  }

  /** Resolves when these servers of the agency are connected. */
  connected(agency: string, ...servers: readonly string[]): Promise<void> {
    const isConnected = (states: readonly McpState[], name: string) =>
      states.some(({ server, state }) => server === name && state === 'connected');
    return until(`${agency}: connection of ${servers.join()}`, async () => {
      const states = await this.states(agency);
      return servers.every((server) => isConnected(states, server));
    });
  }

  /** Resolves when the model was asked for the first time. */
  async hold(agency: string): Promise<HeldRun> {
    const startedAt = performance.now();
    const reader = await this.rig.api().complete({ apiIntegrationId: agency, message: 'Hi' });
    expectEqual(`${agency}: status of a completion`, reader.status, 200);
    const call = await within(`${agency}: first model call of a run`, WAIT_LIMIT_MS, this.rig.model.nextCall());
    this.sums.longest_run_wait_ms = Math.max(this.sums.longest_run_wait_ms, Math.round(performance.now() - startedAt));
    return { agency, reader, call, tools: call.request.tools.map(({ name }) => name) };
  }

  /** Lets the model make these calls. Resolves to the output of each, after the run has completed. */
  async outputs({ agency, reader, call }: HeldRun, ...calls: readonly Call[]): Promise<readonly string[]> {
    for (const [index, [tool, input]] of calls.entries()) {
      await call.toolCall(`call_${index}`, tool, JSON.stringify(input));
    }
    await call.end();
    const next = await within(
      `${agency}: outputs of ${calls.map(([tool]) => tool)}`,
      WAIT_MS,
      this.rig.model.nextCall(),
    );
    const outputs = next.request.prompt.flatMap((item) => (item.kind === 'tool_output' ? [item.output] : []));
    await next.text('Done.');
    await next.end();
    await within(`${agency}: end of a run`, WAIT_MS, reader.over);
    const messages = reader.frames.find(({ event }) => event === 'messages');
    const { status } = JSON.parse(messages?.data ?? '{"status":"missing"}');
    expectEqual(`${agency}: status and answer of a run`, [status, reader.answer], ['completed', 'Done.']);
    this.sums.runs += 1;
    this.sums.calls += calls.length;
    return outputs;
  }

  /** A whole run with these calls. */
  async run(agency: string, ...calls: readonly Call[]): Promise<readonly string[]> {
    return this.outputs(await this.hold(agency), ...calls);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.rig[Symbol.asyncDispose]();
    this.folder[Symbol.dispose]();
  }
}

export async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return Math.round(performance.now() - startedAt);
}

/** The processes that have this text in their environment, with their command lines. Ended ones have no environment. */
export function processesWith(text: string): readonly { readonly pid: number; readonly command: string }[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name) || Number(name) === process.pid) return [];
    try {
      if (!readFileSync(`/proc/${name}/environ`, 'utf8').includes(text)) return [];
      return [{ pid: Number(name), command: readFileSync(`/proc/${name}/cmdline`, 'utf8') }];
    } catch {
      // The process has ended, or belongs to another user.
      return [];
    }
  });
}

export const EVERYTHING = resolve(
  import.meta.dirname,
  '../../node_modules/@modelcontextprotocol/server-everything/dist/index.js',
);

/** `server-everything` by streamable HTTP, in a process that can be killed and started again at the same port. */
export class EverythingByHttp implements AsyncDisposable {
  readonly url: string;
  readonly #port: number;
  #child: ChildProcess;

  private constructor(port: number) {
    this.#port = port;
    this.url = `http://127.0.0.1:${port}/mcp`;
    this.#child = this.#start();
  }

  static async start(): Promise<EverythingByHttp> {
    const server = new EverythingByHttp(await freePort());
    await server.#listens();
    return server;
  }

  #start(): ChildProcess {
    return spawn(process.execPath, [EVERYTHING, 'streamableHttp'], {
      env: { PORT: String(this.#port) },
      stdio: 'ignore',
    });
  }

  #listens(): Promise<void> {
    const answers = () =>
      fetch(this.url).then(
        async (answer) => answer.body?.cancel().then(() => true) ?? true,
        () => false,
      );
    return until('start of server-everything', answers);
  }

  async kill(): Promise<void> {
    const child = this.#child;
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await ended;
  }

  async startAgain(): Promise<void> {
    await this.kill();
    this.#child = this.#start();
    await this.#listens();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.kill();
  }
}
