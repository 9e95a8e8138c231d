import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ApiClient, agencyProcess, FakeProvider, type ModelCall, Rig } from '@runwire/test-kit';
import { count, plantedFault, scale } from '@runwire/test-kit/scale.ts';
import { expectAtLeast, expectEqual, until, WAIT_MS, within } from '@runwire/test-kit/shortfall.ts';
import { AgenciesFolder } from './support/agencies-folder.ts';
import { type BrokenAgency, brokenAgencies, writeBroken } from './support/broken-agencies.ts';
import { ONE_AGENCY } from './support/one-agency.ts';
import { UNKNOWN } from './support/process-kills.ts';

/** While broken agencies appear, the good one is asked this often. */
const ANSWER_EVERY_MS = 50;

/** A module that the server stops after 10 s. */
const endless = (name: string, text: string): BrokenAgency => ({
  name,
  files: { 'agency.ts': text },
  links: {},
  faults: [
    {
      file: 'agency.ts',
      line: 1,
      column: 1,
      message: 'It did not load within 10 seconds; remove what loops or waits.',
    },
  ],
});

/** A loop costs 10 s of processor time. */
const LOOPS = endless('a module that loops', 'while (true);\n');
const WAITS = endless('a module that waits', 'await new Promise((resolve) => setTimeout(resolve, 3_600_000));\n');

const CHAT_STREAM = [
  { id: 'c', choices: [{ index: 0, delta: { content: 'Hello' } }] },
  { id: 'c', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
  { id: 'c', choices: [], usage: { prompt_tokens: 10, completion_tokens: 1, total_tokens: 11 } },
];
const CHAT_BYTES = `${CHAT_STREAM.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('')}data: [DONE]\n\n`;

/** One agency in three forms: the bytes to the provider and the streams to the caller are equal. */
async function threeForms(fault: string | null): Promise<Record<string, number>> {
  using folder = new AgenciesFolder();
  for (const [form, files] of Object.entries(ONE_AGENCY)) {
    folder.write(Object.fromEntries(Object.entries(files).map(([file, text]) => [`${form}/${file}`, text])));
  }
  await using provider = await FakeProvider.start();
  await using rig = await Rig.start({
    fault,
    scripted: false,
    env: {
      RUNWIRE_AGENCIES_DIR: folder.path,
      OPENAI_BASE_URL: provider.baseUrl,
      RUNWIRE_OPENAI_API: 'chat',
      RUNWIRE_MODEL: 'openai/gpt-5-mini',
    },
  });
  const requests: string[] = [];
  const streams: string[] = [];
  for (const form of Object.keys(ONE_AGENCY)) {
    await rig.prepare({ apiIntegrationId: form, agency: form });
    const completion = { apiIntegrationId: form, chatId: 'c1', message: 'Hi', user_context: { plan: 'Pro' } };
    const answer = rig.api().complete(completion);
    const call = await within('request to the provider', WAIT_MS, provider.nextCall());
    requests.push(call.text);
    await call.stream(CHAT_BYTES);
    const reader = await answer;
    await within('end of the stream', WAIT_MS, reader.over);
    expectEqual(`${form}: answer`, reader.answer, 'Hello');
    streams.push(reader.frames.map(({ id, event, data }) => `${id} ${event} ${withoutIds(data)}`).join('\n'));
  }
  for (const other of [1, 2]) {
    expectEqual('request to the provider', requests[other], requests[0]);
    expectEqual('stream', streams[other], streams[0]);
  }
  return { forms: requests.length, request_bytes: Buffer.byteLength(requests[0] ?? '') };
}

/** Ids and times differ between any two runs. */
function withoutIds(data: string): string {
  return data
    .replaceAll(/"[a-z]+_[0-9A-Za-z]{10,}"/g, '"id"')
    .replaceAll(/"\d{4}-\d\d-\d\dT[\d:.]+Z"/g, '"time"')
    .replaceAll(/\b\d{10,}(?:\.\d+)?\b/g, '0');
}

interface ListedAgency {
  readonly agency: string;
  readonly version: string | null;
  readonly error: { readonly faults: BrokenAgency['faults'] } | null;
}

async function listed(api: ApiClient): Promise<ReadonlyMap<string, ListedAgency>> {
  const { body } = await api.get('/v2/agencies?limit=200');
  return new Map(body.items.map((item: ListedAgency) => [item.agency, item]));
}

const hasCode = (files: BrokenAgency['files']) => Object.keys(files).some((file) => file.endsWith('.ts'));

/** Broken agencies appear while the server answers: each is reported as expected, and nothing else is disturbed. */
async function broken(fault: string | null, isShort: boolean): Promise<Record<string, number>> {
  // The test `broken-agencies` reads all of them. Each one with code costs a process.
  const chosen = brokenAgencies.filter(({ files }, index) => !isShort || index % 8 === 0 || !hasCode(files));
  const cases = [...chosen, isShort ? WAITS : LOOPS];
  using folder = new AgenciesFolder({
    'good/agency.yaml': 'name: Good\nagents:\n  - { name: A, instructions: Help. }\n',
  });
  await using rig = await Rig.start({
    fault,
    env: { RUNWIRE_AGENCIES_DIR: folder.path, RUNWIRE_AGENCIES_WATCH: 'true' },
  });
  rig.model.answerAll('Hello');
  await rig.prepare({ apiIntegrationId: 'good', agency: 'good' });
  const id = (index: number) => `broken-${index}`;
  for (const [index, one] of cases.entries()) writeBroken(folder, id(index), one);
  let answered = 0;
  let known = await listed(rig.api());
  const areListed = () => cases.every((_, index) => known.has(id(index)));
  for (const end = performance.now() + 2 * WAIT_MS; !areListed(); known = await listed(rig.api())) {
    if (performance.now() > end) break;
    const reader = await rig.api().complete({ apiIntegrationId: 'good', message: 'Hi' });
    await within('answer beside broken agencies', WAIT_MS, reader.over);
    expectEqual('answer beside broken agencies', [reader.status, reader.answer], [200, 'Hello']);
    answered += 1;
    await sleep(ANSWER_EVERY_MS);
  }
  let faults = 0;
  for (const [index, one] of cases.entries()) {
    const expected = one.faults.map((each) => ({
      ...each,
      message: each.message.replace('`support`', `\`${id(index)}\``),
    }));
    expectEqual(`${one.name}: faults`, known.get(id(index))?.error?.faults, expected);
    faults += expected.length;
    const refused = await rig.api().post('/v2/integrations', { agency: id(index) });
    expectEqual(`${one.name}: refusal`, [refused.status, refused.body.code], [503, 'agency_unavailable']);
  }
  return { broken: expectAtLeast('broken agencies', cases.length, 40), faults, answered_beside: answered };
}

const wordAgency = (word: number) => `name: Words
toolFiles: [./tools.ts]
agents:
  - { name: A, instructions: Version ${word}, tools: [word] }
`;
const wordTool = (word: number) =>
  `export const word = { description: 'A word.', inputSchema: { type: 'object' }, execute: () => 'Version ${word}' };\n`;

/** The message and the events of a run whose process is killed. */
const KILL = 'Kill.';
const KILL_EVENTS = 13;

/** Edits an agency under load: the steps of one run see one version. Each version's process is killed at another event. */
async function reload(fault: string | null, edits: number): Promise<Record<string, number>> {
  using folder = new AgenciesFolder({ 'words/agency.yaml': wordAgency(0), 'words/tools.ts': wordTool(0) });
  await using rig = await Rig.start({
    fault,
    env: { RUNWIRE_AGENCIES_DIR: folder.path, RUNWIRE_AGENCIES_WATCH: 'true' },
  });
  await rig.prepare({ apiIntegrationId: 'words', agency: 'words' });
  const versions = new Set<string>();
  const seen = new Map<string, string>();
  let held: ModelCall[] = [];
  let runs = 0;
  let mixed = 0;
  let unknown = 0;
  // The first step of each run waits until the agency was edited and loaded.
  rig.model.onCall = async (call) => {
    const { runId, step, instructions, prompt } = call.request;
    const isKilled = prompt.some((item) => item.kind === 'user' && item.text === KILL);
    if (step === 1 && isKilled) {
      seen.set(runId, instructions);
      await call.toolCall('call_1', 'word', '{}');
      await call.end();
      return;
    }
    if (step === 1) {
      seen.set(runId, instructions);
      versions.add(instructions);
      held.push(call);
      return;
    }
    const output = prompt.findLast((item) => item.kind === 'tool_output');
    const word = output?.kind === 'tool_output' ? output.output : '';
    const isUnknown = isKilled && UNKNOWN.test(word);
    if (isUnknown) unknown += 1;
    if (instructions !== seen.get(runId) || (word !== instructions && !isUnknown)) mixed += 1;
    await call.end();
  };
  const readers: Awaited<ReturnType<ApiClient['complete']>>[] = [];
  const start = async (count: number) => {
    for (let run = 0; run < count; run += 1) {
      readers.push(await rig.api().complete({ apiIntegrationId: 'words', message: 'Hi' }));
      runs += 1;
    }
    await until('first steps', () => held.length >= count);
  };
  const release = async () => {
    const calls = held;
    held = [];
    for (const call of calls) {
      await call.toolCall('call_1', 'word', '{}');
      await call.end();
    }
  };
  const getVersion = async () => (await listed(rig.api())).get('words')?.version;
  /** Kills the loaded version's process when the client has this many events. */
  const killAt = async (events: number) => {
    const { pid, restarts } = await agencyProcess(rig.api(), 'words');
    const reader = await rig.api().complete({ apiIntegrationId: 'words', message: KILL });
    await within(
      `event ${events}`,
      WAIT_MS,
      reader.until(({ frames }) => frames.length >= events),
    );
    process.kill(pid, 'SIGKILL');
    await within('end of a run whose process was killed', WAIT_MS, reader.over);
    const { status, error } = JSON.parse(reader.frames.find(({ event }) => event === 'messages')?.data ?? '{}');
    const end = [status, error, reader.frames.length];
    expectEqual('end of a run whose process was killed', end, ['completed', null, KILL_EVENTS]);
    await until('restart', async () => (await agencyProcess(rig.api(), 'words')).restarts === restarts + 1);
  };
  for (let edit = 1; edit <= edits; edit += 1) {
    await start(8);
    const before = await getVersion();
    // Both files in one quiet time, so that no version has one old and one new file.
    folder.write({ 'words/agency.yaml': wordAgency(edit), 'words/tools.ts': wordTool(edit) });
    await until('reload', async () => (await getVersion()) !== before);
    await release();
    await killAt(1 + ((edit * 4) % KILL_EVENTS));
  }
  for (const reader of readers) await within('end of a run', WAIT_MS, reader.over);
  expectEqual('runs that changed their version', mixed, 0);
  return {
    runs,
    edits,
    versions: expectEqual('versions that runs used', versions.size, edits),
    process_kills: edits,
    unknown_calls: unknown,
    changed_version: mixed,
  };
}

test('all forms of an agency ask the same; broken ones are reported', async () => {
  const fault = plantedFault();
  const forms = fault === null ? await threeForms(fault) : {};
  const reported = await broken(fault, scale(true, false));
  count({ ...forms, ...reported, ...(await reload(fault, scale(3, 20))) });
});
