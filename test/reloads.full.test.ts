import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ApiClient, findAgencyProcesses, type ModelCall, Rig, type ServerProcess } from '@runwire/test-kit';
import { count, plantedFault, scale } from '@runwire/test-kit/scale.ts';
import { expectAtLeast, expectAtMost, expectEqual, until, WAIT_MS, within } from '@runwire/test-kit/shortfall.ts';
import { AgenciesFolder, type Files } from './support/agencies-folder.ts';

/*
 * Two agencies with code are edited many times while runs use them: one has `agency.yaml` and a file of tools, the other
 * `agency.ts`. Every version marks its instructions and its tools' outputs. Some calls last until another version is
 * loaded. Every run must see one mark, and the memory and the server's processes must return to what they were.
 */

const AGENCIES = ['yaml', 'typescript'] as const;
type AgencyId = (typeof AGENCIES)[number];
const LANES_PER_AGENCY = 3;
/** The tool `wait` is held in every run with such a number. */
const LONG_EVERY = 3;
const MAX_GROWTH_PERCENT = 20;
const PAGE_BYTES = 4096;
const KIB = 1024;

const mark = (version: number) => `Version ${version}`;

const toolsText = (version: number) => `import { connect } from 'node:net';
// What a version keeps in memory: ${version}.
export const kept = Array.from({ length: 20_000 }, (_, index) => \`${version} \${index}\`);
export const word = { name: 'word', description: 'A word.', inputSchema: { type: 'object' }, execute: () => '${mark(version)}' };
export const wait = {
  name: 'wait',
  description: 'Waits.',
  inputSchema: { type: 'object' },
  execute: ({ port }: any, { callId, idempotencyKey }: any) =>
    new Promise((resolve, reject) => {
      const socket = connect(port, '127.0.0.1');
      socket.on('error', reject);
      socket.once('data', () => {
        socket.end();
        resolve('${mark(version)}');
      });
      socket.write(\`\${JSON.stringify({ callId, idempotencyKey })}\\n\`);
    }),
};
`;

const yamlText = (version: number) => `name: Words
toolFiles: [./tools.ts]
agents:
  - { name: A, instructions: ${mark(version)}, tools: [word, wait] }
`;

const typescriptText = (version: number) => `import { defineAgency, defineAgent } from '@runwire/agency';
${toolsText(version)}
export default defineAgency({
  name: 'Words',
  agents: [defineAgent({ name: 'A', instructions: () => '${mark(version)}', tools: [word, wait] })],
});
`;

/** A version's files. They are written together, so that no version has an old and a new file. */
function versionFiles(agency: AgencyId, version: number): Files {
  if (agency === 'typescript') return { 'typescript/agency.ts': typescriptText(version) };
  return { 'yaml/agency.yaml': yamlText(version), 'yaml/tools.ts': toolsText(version) };
}

/** Runs without a pause until `stop` is called, and what was found in them. */
class Load {
  readonly #rig: Rig;
  readonly #marks = new Map<string, Set<string>>();
  #isOver = false;
  #held: string[] = [];
  readonly #lanes: Promise<void>[] = [];
  runs = 0;
  failed = 0;
  /** Runs during which another version was loaded. */
  spanning = 0;
  /** The first problem, for the sentence. */
  problem = '';

  constructor(rig: Rig) {
    this.#rig = rig;
    rig.model.onCall = (call) => void this.#answer(call).catch(() => {});
    rig.gate.onCall = ({ callId }) => {
      if (this.#isOver) rig.gate.open(callId, '');
      else this.#held.push(callId);
    };
    for (const agency of AGENCIES) {
      for (let lane = 0; lane < LANES_PER_AGENCY; lane += 1) this.#lanes.push(this.#repeat(rig.api(), agency));
    }
  }

  get mixed(): number {
    return [...this.#marks.values()].filter((marks) => marks.size > 1).length;
  }

  /** Takes the calls that are held now. */
  takeHeld(): readonly string[] {
    return this.#held.splice(0);
  }

  /** Ends calls during which another version was loaded. */
  release(callIds: readonly string[]): void {
    this.spanning += callIds.length;
    for (const callId of callIds) this.#rig.gate.open(callId, '');
  }

  async #repeat(api: ApiClient, agency: AgencyId): Promise<void> {
    while (!this.#isOver) {
      this.runs += 1;
      const message = this.runs % LONG_EVERY === 0 ? 'long' : 'short';
      const reader = await api.complete({ apiIntegrationId: agency, message });
      await within('end of a run', 4 * WAIT_MS, reader.over);
      const end = JSON.parse(reader.frames.find(({ event }) => event === 'messages')?.data ?? '{}');
      if (reader.status !== 200 || end.status !== 'completed')
        this.#fail(`${reader.status} ${reader.text.slice(-300)}`);
    }
  }

  #fail(problem: string): void {
    this.failed += 1;
    if (this.problem === '') this.problem = problem;
  }

  /** A long run calls `wait` and then `word`, others only `word`. */
  async #answer(call: ModelCall): Promise<void> {
    const { runId, instructions, prompt } = call.request;
    const marks = this.#marks.get(runId) ?? new Set();
    this.#marks.set(runId, marks.add(instructions));
    const outputs = prompt.filter((item) => item.kind === 'tool_output');
    for (const item of outputs) {
      if (/^Version \d+$/.test(item.output)) marks.add(item.output);
      else this.#fail(item.output);
    }
    const isLong = prompt.some((item) => item.kind === 'user' && item.text === 'long');
    if (isLong && outputs.length === 0) {
      await call.toolCall(`${runId}-wait`, 'wait', JSON.stringify({ port: this.#rig.gate.port }));
    } else if (outputs.length === Number(isLong)) await call.toolCall(`${runId}-word`, 'word', '{}');
    else await call.text('Done.');
    await call.end();
  }

  /** Lets all runs end. */
  async stop(): Promise<void> {
    this.#isOver = true;
    for (const callId of this.takeHeld()) this.#rig.gate.open(callId, '');
    await Promise.all(this.#lanes);
  }
}

async function loadedVersion(api: ApiClient, agency: AgencyId): Promise<string> {
  const { items } = (await api.get('/v2/agencies?limit=200')).body;
  const found = items.find((item: { readonly agency: string }) => item.agency === agency);
  expectEqual(`error of the agency ${agency}`, found?.error, null);
  return found.version;
}

interface Memory {
  /** Heap and buffers of the server after a garbage collection. */
  readonly serverBytes: number;
  /** The resident memory of all processes of agencies. */
  readonly processBytes: number;
}

async function measure(server: ServerProcess): Promise<Memory> {
  // The processes of earlier versions end after their last run.
  const processes = () => findAgencyProcesses(server.pid);
  await until('end of earlier versions', () => processes().length <= AGENCIES.length, { limitMs: 15_000 }).catch(
    () => {},
  );
  expectEqual('processes of agencies', processes().length, AGENCIES.length);
  const pages = processes().map((pid) => Number(readFileSync(`/proc/${pid}/statm`, 'latin1').split(' ')[1]));
  const processBytes = pages.reduce((sum, count) => sum + count * PAGE_BYTES, 0);
  await server.usedBytes();
  // Finalizers free buffers after a collection.
  await sleep(100);
  return { serverBytes: await server.usedBytes(), processBytes };
}

const growth = (before: number, after: number) => Math.round(((after - before) / before) * 100);

/** Edits the agencies by turns while runs use them. Resolves after all runs have ended. */
async function editUnderLoad(rig: Rig, folder: AgenciesFolder, versions: readonly number[]): Promise<Load> {
  const load = new Load(rig);
  const api = rig.api();
  for (const version of versions) {
    const agency = AGENCIES[version % AGENCIES.length] as AgencyId;
    const held = load.takeHeld();
    const before = await loadedVersion(api, agency);
    folder.write(versionFiles(agency, version));
    await until(`load of version ${version}`, async () => (await loadedVersion(api, agency)) !== before);
    load.release(held);
  }
  await load.stop();
  return load;
}

const numbers = (from: number, count: number) => Array.from({ length: count }, (_, index) => from + index);

test('reloads under load change no run in progress', async () => {
  const fault = plantedFault();
  const [warmUps, edits] = scale([4, 10], [20, 200]);
  using folder = new AgenciesFolder();
  for (const agency of AGENCIES) folder.write(versionFiles(agency, 0));
  const env = { RUNWIRE_AGENCIES_DIR: folder.path, RUNWIRE_AGENCIES_WATCH: 'true' };
  await using rig = await Rig.start({ fault, env });
  for (const agency of AGENCIES) await rig.prepare({ apiIntegrationId: agency, agency });
  const server = rig.server();
  const sums = { edits, runs: 0, spanning: 0 };
  const play = async (versions: readonly number[]) => {
    const { runs, spanning, mixed, failed, problem } = await editUnderLoad(rig, folder, versions);
    expectEqual('runs that saw two versions', mixed, 0);
    expectEqual(`runs and calls that failed (${problem})`, failed, 0);
    sums.runs += runs;
    sums.spanning += spanning;
  };
  await play(numbers(1, warmUps));
  const before = await measure(server);
  Object.assign(sums, { runs: 0, spanning: 0 });
  await play(numbers(1 + warmUps, edits));
  const after = await measure(server);
  const serverGrowth = growth(before.serverBytes, after.serverBytes);
  const processGrowth = growth(before.processBytes, after.processBytes);
  expectAtLeast('runs that spanned an edit', sums.spanning, 1);
  count({
    ...sums,
    mixed: 0,
    failed: 0,
    server_kib: Math.round(after.serverBytes / KIB),
    server_growth_percent: expectAtMost('growth of the server in %', serverGrowth, MAX_GROWTH_PERCENT),
    process_growth_percent: expectAtMost('growth of the processes in %', processGrowth, MAX_GROWTH_PERCENT),
    processes: AGENCIES.length,
  });
});
