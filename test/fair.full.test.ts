import { once } from 'node:events';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { type ApiClient, endlessPdf, FileServer, type ModelCall, pdfOfPages, Rig } from '@runwire/test-kit';
import { count, plantedFault, scale } from '@runwire/test-kit/scale.ts';
import { expectAtLeast, expectAtMost, expectEqual, Shortfall, until, within } from '@runwire/test-kit/shortfall.ts';
import { AgenciesFolder } from './support/agencies-folder.ts';
import { askStore } from './support/ask-store.ts';
import {
  type AssaultCounts,
  type AssaultOptions,
  FILES,
  HANG,
  INTEGRATIONS,
  LIST_READERS,
  MEMBER,
  MUCH,
  noCounts,
} from './support/fair-assault.ts';
import { quantile } from './support/readers.ts';
import { numbered, RowCopies } from './support/row-copies.ts';
import { missingBubblewrap } from './support/services.ts';

/*
 * One owner with four integrations does everything with which it can delay others, concurrently: stalled bodies, hanging
 * files and runs, large lists, replays, exports, erasures, commands that write many files, and many readers of a long run.
 * Another owner's completions are measured before that and during it.
 */

const MEBIBYTE = 1024 * 1024;
const LIMIT_MS = 120_000;
const ANSWER = 'At your service.';
/** A run's limit with two files. A process that may have to start converts one of them. */
const FILES_MS = 30_000;
const AGENCY = 'name: Work\nagents:\n  - { name: Worker, description: Works., instructions: Work., sandbox: true }\n';
const COMMANDS = 'commands';

const FULL = {
  activeRuns: 200,
  bodyBytes: 32 * MEBIBYTE,
  members: 24,
  memberBytes: 10 * MEBIBYTE,
  replays: 400,
  readers: 200,
  runs: 100_000,
  answerCharacters: 1_000_000,
  files: 4000,
  completions: 120,
  measureMs: 60_000,
  /** How many times the median without the assault the median may be, and a quiet machine's limits. */
  slowdown: 2,
  medianMs: 2000,
  p95Ms: 1000,
  maxMs: 4000,
  /** For the CPU time of one turn of the event loop. */
  turnMs: 200,
};
/** Smaller sizes, and times for a machine that runs other tests too. */
const SHORT: typeof FULL = {
  activeRuns: 20,
  bodyBytes: MEBIBYTE,
  members: 4,
  memberBytes: 2 * MEBIBYTE,
  replays: 40,
  readers: 40,
  runs: 2000,
  answerCharacters: 50_000,
  files: 100,
  completions: 12,
  measureMs: 0,
  slowdown: 1000,
  medianMs: 6000,
  p95Ms: 60_000,
  maxMs: 60_000,
  turnMs: 1000,
};

const inputFile = (url: string) => ({ type: 'input_file', file_url: url });

/** Makes what the assault uses; resolves to the addresses of files that hang. */
async function prepare(rig: Rig, files: FileServer, sizes: typeof FULL): Promise<string[]> {
  const api = rig.api();
  for (const apiIntegrationId of INTEGRATIONS) await api.post('/v2/integrations', { apiIntegrationId });
  const completed = async (request: object) => {
    const reader = await api.complete({ apiIntegrationId: 'one', ...request });
    await reader.whole();
    return String(reader.headers['x-run-id']);
  };
  const replayed = await completed({ usageRequestId: 'replayed', message: 'Hello' });
  await api.put(`/v2/integrations/one/members/${MEMBER}`, {});
  for (let member = 0; member < sizes.members; member += 1)
    await api.put(`/v2/integrations/one/members/m${member}`, {});
  // Earlier versions accepted metadata of this size.
  const metadata = JSON.stringify({ note: 'x'.repeat(sizes.memberBytes) });
  await askStore(rig.dataDir, `update members set metadata_json = '${metadata}'`);
  await completed({ consumerId: MEMBER, usageRequestId: 'long', chatId: 'long', message: MUCH });
  using rows = new RowCopies(rig.dataDir);
  rows.copy('runs', `run_id = '${replayed}'`, sizes.runs, {
    run_id: numbered('run_id'),
    usage_request_id: numbered('usage_request_id'),
    created_at: 'created_at - n',
  });
  // Files whose server never answers, and documents that take as long as the reader lets them.
  const hanging: string[] = [];
  for (let place = 0; place < Math.min(16, sizes.activeRuns / 4); place += 1) {
    files.hold(`/hang-${place}`);
    hanging.push(files.url(`/hang-${place}`));
  }
  for (let place = 0; place < 4; place += 1)
    hanging.push(files.serve(`/endless-${place}.pdf`, endlessPdf(), 'application/pdf'));
  return hanging;
}

/** The assault in its own thread, until it is disposed of. */
class Assault implements AsyncDisposable {
  readonly #worker: Worker;
  counts: AssaultCounts = noCounts();

  constructor(options: AssaultOptions) {
    this.#worker = new Worker(new URL('./support/fair-assault.ts', import.meta.url), { workerData: options });
    this.#worker.on('message', (counts: AssaultCounts) => {
      this.counts = counts;
    });
  }

  /** Resolves when every part of it has reached its limit. */
  async atItsHeight({ sizes, commandIntegration }: AssaultOptions): Promise<void> {
    const failed = once(this.#worker, 'error').then(([error]) => Promise.reject(error));
    const isAtItsHeight = () => {
      const { runs_refused, bodies_refused, lists, replays, export_mb, erasures, commands, long_reads } = this.counts;
      // A whole export of this owner may take longer: its own lists and readers take turns with it.
      const isReading = lists >= LIST_READERS && replays >= sizes.replays && export_mb > 0 && long_reads > 0;
      return (
        isReading &&
        runs_refused > 0 &&
        bodies_refused > 1 &&
        erasures > 0 &&
        (commands > 0 || commandIntegration === null)
      );
    };
    const height = until('the assault at its height', isAtItsHeight, { limitMs: LIMIT_MS });
    await Promise.race([height, failed]).catch((error) => {
      throw error instanceof Shortfall ? new Shortfall(`${error.message} ${JSON.stringify(this.counts)}`) : error;
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#worker.terminate();
  }
}

/** The median until a completion is admitted while nothing else happens. */
async function quietMedian(api: ApiClient, completions: number): Promise<number> {
  const admittedMs: number[] = [];
  for (let done = 0; done < completions; done += 1) {
    const began = performance.now();
    const reader = await api.complete({ apiIntegrationId: 'other' });
    admittedMs.push(performance.now() - began);
    await within('the end of a run without the assault', LIMIT_MS, reader.whole());
  }
  return quantile(admittedMs, 0.5);
}

async function measure(api: ApiClient, files: FileServer, sizes: typeof FULL, quietMs: number) {
  const [admittedMs, filesMs]: [number[], number[]] = [[], []];
  let refused = 0;
  let unread = 0;
  const until = performance.now() + sizes.measureMs;
  for (let done = 0; done < sizes.completions || performance.now() < until; done += 1) {
    // Each file is new, so that none is sent from a stored copy.
    const urls = () => [
      files.serve(`/notes-${done}.txt`, `Note ${done}. `.repeat(4000), 'text/plain'),
      files.serve(`/letter-${done}.pdf`, pdfOfPages(1 + (done % 7)), 'application/pdf'),
    ];
    const attachments = done % 10 === 5 ? urls().map(inputFile) : [];
    const began = performance.now();
    const reader = await api.complete({ apiIntegrationId: 'other', attachments });
    admittedMs.push(performance.now() - began);
    if (reader.status !== 200 || reader.headers['x-agent-run-admitted'] !== 'true') {
      refused += 1;
      reader.cut();
      break;
    }
    await within('the end of a run of the other owner', LIMIT_MS, reader.whole());
    if (attachments.length === 0) continue;
    filesMs.push(performance.now() - began);
    if (reader.answer !== ANSWER) unread += 1;
  }
  const medianMs = quantile(admittedMs, 0.5);
  expectAtMost('median during the assault, by the median without it', medianMs / quietMs, sizes.slowdown);
  return {
    quiet_median_ms: quietMs,
    completions: admittedMs.length,
    refused: expectEqual('completions of the other owner refused', refused, 0),
    median_ms: expectAtMost('median until a completion is admitted, in ms', medianMs, sizes.medianMs),
    p95_ms: expectAtMost('95 % of the completions are admitted within ms', quantile(admittedMs, 0.95), sizes.p95Ms),
    max_ms: expectAtMost('longest time until a completion is admitted, in ms', quantile(admittedMs, 1), sizes.maxMs),
    with_files: expectAtLeast('completions with files', filesMs.length, 1),
    files_unread: expectEqual('files of the other owner that were not read', unread, 0),
    files_max_ms: expectAtMost('longest completion with files, in ms', quantile(filesMs, 1), FILES_MS),
  };
}

/** Answers as the message asks. */
async function answer(call: ModelCall, { answerCharacters, files }: typeof FULL): Promise<void> {
  const prompt = JSON.stringify(call.request.prompt);
  if (prompt.includes(HANG)) return;
  if (prompt.includes(MUCH)) {
    for (let sent = 0; sent < answerCharacters; sent += 1000) await call.text('word '.repeat(200));
  } else if (prompt.includes(FILES) && call.request.prompt.at(-1)?.kind !== 'tool_output') {
    const command = `mkdir -p many; for n in $(seq ${files}); do echo $RANDOM > many/f$n; done`;
    await call.toolCall('call_1', 'run_command', JSON.stringify({ command }));
  } else await call.text(ANSWER);
  await call.end();
}

test('an owner who overloads the server delays no other owner', async () => {
  const fault = plantedFault();
  const sizes = scale(SHORT, FULL);
  const { bodyBytes, activeRuns } = sizes;
  await using files = await FileServer.start();
  using agencies = new AgenciesFolder({ 'work/agency.yaml': AGENCY });
  const hasCommands = (await missingBubblewrap()) === null;
  const env = {
    ...files.env,
    RUNWIRE_AGENCIES_DIR: agencies.path,
    RUNWIRE_SANDBOX: hasCommands ? 'bubblewrap' : 'off',
  };
  const limits = { bodyBytes, bodiesBytes: 8 * bodyBytes, activeRuns };
  await using rig = await Rig.start({ fault, limits, env });
  rig.model.onCall = (call) => void answer(call, sizes).catch(() => {});
  const { body: owner } = await rig.api().post('/v2/owners', { email: 'other@example.com' });
  const other = rig.api().as(owner.apiKey);
  await other.post('/v2/integrations', { apiIntegrationId: 'other' });
  const hangingFiles = await prepare(rig, files, sizes);
  if (hasCommands) {
    await rig.api().post('/v2/integrations', { apiIntegrationId: COMMANDS, agency: 'work', fileAccess: 'all' });
  }
  const quietMs = await quietMedian(other, sizes.completions / 3);
  const options: AssaultOptions = {
    url: rig.server().url,
    apiKey: String(rig.api().apiKey),
    sizes,
    hangingFiles,
    commandIntegration: hasCommands ? COMMANDS : null,
  };
  await using assault = new Assault(options);
  await assault.atItsHeight(options);
  await rig.server().longestTurnMs();
  const figures = await measure(other, files, sizes, quietMs);
  const longestTurnMs = Math.round(await rig.server().longestTurnMs());
  expectAtMost('longest turn of the event loop in ms of CPU', longestTurnMs, sizes.turnMs);
  const { counts } = assault;
  expectAtLeast('hanging runs', counts.hanging_runs, 1);
  const rounded = { list_mb: Math.round(counts.list_mb), export_mb: Math.round(counts.export_mb) };
  count({ ...figures, longest_turn_ms: longestTurnMs, ...counts, ...rounded });
});
