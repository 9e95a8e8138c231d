import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import {
  type ApiClient,
  ModelController,
  scriptedModel,
  startTestServer,
  TEST_API_KEY,
  type TestServer,
} from '@runwire/test-kit';
import { pino } from 'pino';
import { cites } from '../requirements/cite.ts';
import { AgenciesFolder } from './support/agencies-folder.ts';
import { eventually } from './support/eventually.ts';

const YAML = `name: Bad
toolFiles: [./tools.ts]
env: { PASSED: "\${RUNWIRE_API_KEY}", PLAIN: text }
agents:
  - name: Agent
    instructions: Help.
    files: false
    tools: [forgets, throws_later, dies, dies_again, spawns, hoards, loops, late, stuck, unreadable, large, reads_env, guarded, counts]
`;

/** `made` counts the calls in a file, because a process that ends forgets them. */
const TOOLS = `import { spawn } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
const tool = (execute: (input: unknown, call: any) => unknown, more = {}) => ({
  description: 'A tool.', inputSchema: { type: 'object' }, execute, ...more,
});
const made = (name: string) => appendFileSync(new URL('./made.txt', import.meta.url).pathname.split('?')[0]!, name + '\\n');
export const forgets = tool(async () => { void Promise.reject(new Error('forgotten')); await sleep(20); return 'fine'; });
export const throws_later = tool(async () => { setTimeout(() => { throw new Error('thrown in a timer'); }, 5); await sleep(60_000); });
export const dies = tool(() => { made('dies'); process.exit(3); });
export const dies_again = tool(() => { made('dies_again'); process.exit(3); }, { repeatable: true });
const kept: unknown[] = [];
export const spawns = tool(() => { made('pid ' + spawn('sleep', ['600']).pid); process.exit(3); });
export const hoards = tool(async () => { kept.push(Buffer.alloc(200 * 1024 * 1024, 1)); await sleep(60_000); });
export const loops = tool(() => { for (;;); });
export const late = tool(async (_input, { abortSignal }) => { await sleep(60_000, null, { signal: abortSignal }); }, { timeoutSeconds: 1 });
export const stuck = tool(() => new Promise(() => { setInterval(() => {}, 1000); }), { timeoutSeconds: 1 });
export const unreadable = tool(() => { throw new Proxy({}, { get() { throw new Error('no'); } }); });
export const large = tool(() => 'x'.repeat(100_000));
export const reads_env = tool(() => JSON.stringify([process.env.RUNWIRE_API_KEY ?? null, process.env.PASSED, process.env.PLAIN]));
export const guarded = tool(() => 'guarded', { needsApproval: () => process.exit(4) });
export const counts = tool(async function* () { yield 'one'; await sleep(200); yield 'two'; });
`;

/** A server with the agency, and a way to let its model call one tool. */
class Rig implements AsyncDisposable {
  readonly log: { agency?: string; tool?: string; callId?: string; runId?: string; variable?: string; msg: string }[] =
    [];
  readonly #stack = new AsyncDisposableStack();
  folder!: AgenciesFolder;
  server!: TestServer;
  controller!: ModelController;

  static async open(): Promise<Rig> {
    const rig = new Rig();
    rig.folder = rig.#stack.use(new AgenciesFolder({ 'bad/agency.yaml': YAML, 'bad/tools.ts': TOOLS }));
    rig.controller = rig.#stack.use(await ModelController.start());
    rig.server = rig.#stack.use(
      await startTestServer({
        env: { RUNWIRE_AGENCIES_DIR: rig.folder.path, RUNWIRE_AGENCIES_WATCH: 'true' },
        model: scriptedModel(rig.controller.port),
        limits: { agencySilenceMs: 2000, agencyMemoryMib: 128 },
        logger: pino({ level: 'warn' }, { write: (line: string) => void rig.log.push(JSON.parse(line)) }),
      }),
    );
    await rig.api.post('/v2/integrations', { apiIntegrationId: 'own', agency: 'bad' });
    return rig;
  }

  get api(): ApiClient {
    return this.server.api;
  }

  /** Begins a run whose model calls the tool. Resolves to the answer of the request and the run's id. */
  async call(tool: string) {
    const answer = this.api.post('/get_completion_v2', { apiIntegrationId: 'own', message: tool });
    const first = await this.controller.nextCall();
    await first.toolCall('call_1', tool, '{}');
    await first.end();
    return { answer, runId: first.request.runId };
  }

  async getOutput(tool: string): Promise<string> {
    const { answer } = await this.call(tool);
    const second = await this.controller.nextCall();
    const output = second.request.prompt.findLast(({ kind }) => kind === 'tool_output');
    await second.end();
    assert.equal((await answer).status, 200);
    return output?.kind === 'tool_output' ? output.output : '';
  }

  async metric(kind: string): Promise<number> {
    const { body: text } = await this.api.get('/metrics');
    return Number(new RegExp(`agency_faults_total{agency="bad",kind="${kind}"} (\\d+)`).exec(text)?.[1] ?? 0);
  }

  get #lines(): readonly string[] {
    return readFileSync(join(this.folder.path, 'bad/made.txt'), 'utf8').split('\n');
  }

  made(name: string): number {
    return this.#lines.filter((line) => line === name).length;
  }

  /** The process that the tool `spawns` started. */
  spawned(): number {
    return Number(this.#lines.find((line) => line.startsWith('pid '))?.slice(4));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#stack.disposeAsync();
  }
}

/** False for a process that has ended and was not collected by its parent. */
function isAlive(pid: number): boolean {
  const { stdout } = spawnSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' });
  return /^[^Z\s]/.test(stdout);
}

const UNKNOWN = /^The process of the agency ended while this call was under way, and its outcome is unknown/;

test('a fault of a tool ends its process at most, and the server and its other runs continue', async (t) => {
  cites(t, 'agents-29-rejection', 'agents-29-fault', 'agents-29-ended-twice');
  await using rig = await Rig.open();
  const { api, controller } = rig;
  // This run streams while the tools of others fail.
  const other = api.post('/get_completion_v2', { apiIntegrationId: 'own', message: 'Hi' });
  const stream = await controller.nextCall();
  await stream.text('first ');

  assert.equal(await rig.getOutput('forgets'), 'fine');
  const rejection = rig.log.find(({ msg }) => msg.startsWith("a promise of an agency's code was rejected"));
  assert.deepEqual([rejection?.agency, rejection?.tool, rejection?.callId], ['bad', 'forgets', 'call_1']);
  assert.match(rejection?.runId ?? '', /^run_/);
  assert.equal(await rig.metric('rejection'), 1);

  assert.match(await rig.getOutput('throws_later'), UNKNOWN);
  const ended = rig.log.find(({ msg }) => msg === 'the process of an agency ended');
  assert.deepEqual([ended?.tool, ended?.callId], ['throws_later', 'call_1']);
  assert.equal(await rig.metric('exception'), 1);

  assert.match(await rig.getOutput('dies'), UNKNOWN);
  assert.equal(rig.made('dies'), 1);
  assert.match(
    await rig.getOutput('dies_again'),
    /^The tool `dies_again` of the agency `bad` \(`tools.ts`\) ended its process twice, and is not called again: /,
  );
  assert.equal(rig.made('dies_again'), 2);
  assert.match(await rig.getOutput('loops'), UNKNOWN);
  assert.equal(await rig.metric('silent'), 1);
  assert.match(await rig.getOutput('unreadable'), /^The tool failed: it threw a value that cannot be read/);
  assert.match(await rig.getOutput('large'), /\[The output has 100000 characters; these are the first 40000\.\]$/);
  assert.equal(await rig.getOutput('counts'), 'two');

  await stream.text('last');
  await stream.end();
  assert.equal((await other).status, 200);
});

test('a tool has limits of time and memory, and what it started ends with its process', async (t) => {
  cites(t, 'agents-29-timeout', 'agents-29-memory', 'agents-29-memory-counts', 'agents-29-group');
  await using rig = await Rig.open();
  assert.equal(await rig.getOutput('late'), 'The tool failed: The tool took longer than 1 seconds and was stopped.');
  assert.equal(await rig.metric('replaced'), 0);
  assert.equal(await rig.getOutput('stuck'), 'The tool failed: The tool took longer than 1 seconds and was stopped.');
  await eventually('the process is replaced', async () => (await rig.metric('replaced')) === 1);
  assert.equal(await rig.getOutput('counts'), 'two');
  assert.match(await rig.getOutput('spawns'), UNKNOWN);
  await eventually('the end of what a tool started', async () => !isAlive(rig.spawned()));
  assert.match(await rig.getOutput('hoards'), /outcome is unknown.*It used more than 128 MiB; /);
  assert.equal(await rig.metric('memory'), 1);
});

test('the code does not get the secrets of the server, and `env` passes single variables on', async (t) => {
  cites(t, 'agents-29-env');
  await using rig = await Rig.open();
  assert.deepEqual(JSON.parse(await rig.getOutput('reads_env')), [null, TEST_API_KEY, 'text']);
  assert.equal(
    await rig.getOutput('reads_env').then(() => rig.log.filter(({ variable }) => variable !== undefined).length),
    1,
  );
});

test('a call asks for approval if the process ends while that is decided', async (t) => {
  cites(t, 'agents-29-approval');
  await using rig = await Rig.open();
  const { answer } = await rig.call('guarded');
  const { status, body } = await answer;
  assert.equal(status, 200);
  assert.match(JSON.stringify(body), /tool_approval_requested|guarded/);
});
