import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Rig } from '@runwire/test-kit';
import { expectEqual, Shortfall, until } from '@runwire/test-kit/shortfall.ts';
import { AgenciesFolder } from './agencies-folder.ts';
import type { BadTool } from './bad-tools.ts';
import { HeldRuns } from './held-runs.ts';
import { processesWith } from './mcp-stage.ts';

/** How long a call may take: two processes that are silent, their starts and the pauses. */
const CALL_LIMIT_MS = 120_000;
/** How long an agency's processes may take to end. */
const LEFT = { limitMs: 10_000, pauseMs: 200 };
const LOOK_MS = 50;

const SCOPE = `
import * as processes from 'node:child_process';
import * as events from 'node:events';
import * as fs from 'node:fs';
import * as net from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import * as v8 from 'node:v8';
import * as threads from 'node:worker_threads';

const log = String(process.env.CALL_LOG);
const never = new Promise(() => {});
`;

const FINE = `export const fine = { description: 'Works.', execute: () => 'fine' };\n`;

/** An agency's files with these tools. Its calls are counted in a file outside. */
function agencyFiles(mark: string, tools: readonly BadTool[]): Readonly<Record<string, string>> {
  const names = ['fine', ...tools.map(({ name }) => name)];
  return {
    'agency.yaml': `name: Bad\ntoolFiles: [./tools.ts]\nenv: { PROCESS_MARK: ${mark} }\nagents:\n  - { name: A, instructions: Work., tools: [${names.join(', ')}] }\n`,
    'tools.ts': SCOPE + FINE + tools.map(toolText).join(''),
  };
}

function toolText({ name, code, module = '', repeatable = false, timeoutSeconds = 300 }: BadTool): string {
  return `${module}
export const ${name} = {
  description: 'Fails.',
  repeatable: ${repeatable},
  timeoutSeconds: ${timeoutSeconds},
  async execute(input: any, call: any) {
    fs.appendFileSync(log, '${name}\\n');
    ${code}
  },
};
`;
}

/** A server whose agencies have bad tools, and what happens to its agencies' processes. */
export class BadToolsStage implements AsyncDisposable {
  readonly rig: Rig;
  readonly runs: HeldRuns;
  readonly #folder: AgenciesFolder;
  readonly #mark = `mark-${randomUUID()}`;
  readonly sums = { kinds: 0, calls: 0, repeated: 0 };

  private constructor(rig: Rig, folder: AgenciesFolder) {
    this.rig = rig;
    this.runs = new HeldRuns(rig);
    this.#folder = folder;
  }

  static async start(fault: string | null, silenceMs: number): Promise<BadToolsStage> {
    const folder = new AgenciesFolder({ 'call-log': '' });
    const env = {
      RUNWIRE_AGENCIES_DIR: folder.path,
      RUNWIRE_AGENCIES_WATCH: 'true',
      RUNWIRE_LOG_LEVEL: 'warn',
      RUNWIRE_AGENCY_MEMORY_MIB: '256',
      CALL_LOG: join(folder.path, 'call-log'),
    };
    const rig = await Rig.open({ fault, env, limits: { agencySilenceMs: silenceMs } });
    const stage = new BadToolsStage(rig, folder);
    try {
      await rig.add();
      return stage;
    } catch (error) {
      await stage[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Adds an agency with these tools, and an integration of the same name. */
  async addAgency(id: string, tools: readonly BadTool[]): Promise<void> {
    const files = Object.entries(agencyFiles(this.#markFor(id), tools));
    this.#folder.write(Object.fromEntries(files.map(([file, text]) => [`${id}/${file}`, text])));
    await until(`${id}: loading`, () => this.#isLoaded(id));
    await this.rig.prepare({ apiIntegrationId: id, agency: id });
  }

  async #isLoaded(id: string): Promise<boolean> {
    const { items } = (await this.rig.api().get('/v2/agencies?limit=200')).body;
    const found = items.find(({ agency }: { agency: string }) => agency === id);
    if (found?.error) throw new Shortfall(`${id}: ${JSON.stringify(found.error)}`);
    return found !== undefined;
  }

  /** In the environment of every process of an agency. */
  #markFor(id: string): string {
    return `${this.#mark}-${id}-end`;
  }

  /** An agency's processes, or of all, and the processes that its tools started. */
  processes(id: string | null) {
    return processesWith(id === null ? this.#mark : this.#markFor(id));
  }

  /** Deletes an agency. No process of it may be left. */
  async removeAgency(id: string): Promise<void> {
    this.#folder.delete(id);
    await until(`${id}: end of its processes`, () => this.processes(id).length === 0, LEFT);
  }

  /** Resolves when what the tools started has ended, although the agency has a process again. */
  onlyAgencyProcesses(id: string): Promise<void> {
    const areOnly = () => this.processes(id).every(({ command }) => command.includes('agency-child'));
    return until(`${id}: end of what its tools started`, areOnly, LEFT);
  }

  countCalls(tool: string): number {
    const log = readFileSync(join(this.#folder.path, 'call-log'), 'utf8');
    return log.split('\n').filter((line) => line === tool).length;
  }

  /** Calls a bad tool in a run of its own, which must complete. */
  async call(integration: string, tool: BadTool): Promise<void> {
    const { name, output: expected, calls = 1, mayFailBefore = false } = tool;
    const run = await this.runs.begin(integration, `Call ${name}.`);
    let isOver = false;
    const called = run.callTool(name, CALL_LIMIT_MS).finally(() => (isOver = true));
    called.catch(() => {});
    for (; !isOver; await sleep(LOOK_MS)) this.#checkCalls(tool);
    const output = await called;
    if (!expected.test(output)) throw new Shortfall(`${name}: expected ${expected}, found ${output.slice(0, 400)}.`);
    await run.finish();
    this.#checkCalls(tool);
    if (!mayFailBefore) expectEqual(`calls of ${name}`, this.countCalls(name), calls);
    this.sums.kinds += 1;
    this.sums.calls += this.countCalls(name);
    if (!tool.repeatable) this.sums.repeated += Math.max(0, this.countCalls(name) - 1);
  }

  #checkCalls({ name, calls = 1 }: BadTool): void {
    const found = this.countCalls(name);
    if (found > calls) throw new Shortfall(`calls of ${name}: expected ${calls}, found ${found}.`);
  }

  /** Calls an agency's good tool. */
  async callFine(integration: string, expected = /^fine$/): Promise<void> {
    const run = await this.runs.begin(integration, 'Call fine.');
    const output = await run.callTool('fine', CALL_LIMIT_MS);
    if (!expected.test(output))
      throw new Shortfall(`${integration}: expected ${expected}, found ${output.slice(0, 400)}.`);
    await run.finish();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.rig[Symbol.asyncDispose]();
    this.#folder[Symbol.dispose]();
    // If the proof failed, something may be left.
    for (const { pid } of this.processes(null)) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // It has ended by itself.
      }
    }
  }
}

/** A process's children, their children, and so on. */
export function descendants(pid: number): readonly number[] {
  const children = Map.groupBy(allProcesses(), ({ parent }) => parent);
  const below = (one: number): readonly number[] =>
    (children.get(one) ?? []).flatMap((child) => [child.pid, ...below(child.pid)]);
  return below(pid);
}

/** Processes that have ended and wait for their parent do not count. */
export const countAlive = (pids: readonly number[]): number =>
  allProcesses().filter(({ pid, state }) => pids.includes(pid) && state !== 'Z').length;

function allProcesses() {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      // The name of the program is in brackets and may contain spaces.
      const [state = '', parent] = readFileSync(`/proc/${name}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
      return [{ pid: Number(name), parent: Number(parent), state }];
    } catch {
      return [];
    }
  });
}
