import { request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ApiClient, endlessPdf, FileServer, pdfOfPages } from '@runwire/test-kit';
import { expectAtLeast, expectAtMost, expectEqual, until, within } from '@runwire/test-kit/shortfall.ts';
import { askStore } from '../test/support/ask-store.ts';
import type { Proof } from './support/proof.ts';
import { quantile } from './support/readers.ts';
import { Rig } from './support/rig.ts';

/*
 * One owner with four integrations does everything with which it can delay others, concurrently: stalled bodies, hanging
 * files and runs, large lists and replays. Then another owner's completions are measured.
 */

const MEBIBYTE = 1024 * 1024;
const LIMIT_MS = 120_000;
const ANSWER = 'At your service.';
/** The model never answers a run with this message. */
const HANG = 'Never answer this.';
/** The limit of a run with two files. A process that may have to start converts one of them. */
const FILES_MS = 30_000;
const INTEGRATIONS = ['one', 'two', 'three', 'four'];
const PAUSE_MS = 500;
const STALLED = 10;
const LIST_READERS = 2;
/** Each stalled body is smaller than its limit by so much, to leave room for the bodies of the replays. */
const LEFT_BYTES = 64 * 1024;

const FULL = {
  activeRuns: 200,
  bodyBytes: 32 * MEBIBYTE,
  members: 24,
  memberBytes: 10 * MEBIBYTE,
  replays: 400,
  completions: 120,
  medianMs: 2000,
};
/** Smaller sizes, and three times the time, because the machine runs other tests too. */
const SHORT: typeof FULL = {
  activeRuns: 20,
  bodyBytes: MEBIBYTE,
  members: 4,
  memberBytes: 2 * MEBIBYTE,
  replays: 40,
  completions: 12,
  medianMs: 6000,
};

const inputFile = (url: string) => ({ type: 'input_file', file_url: url });

/** Sends a body up to its last byte; resolves to the status of the answer, 0 if the connection closed without one. */
function stall({ url, authorization }: ApiClient, bytes: number, signal: AbortSignal): Promise<number> {
  const headers = { ...authorization, 'content-type': 'application/json', 'content-length': String(bytes) };
  return new Promise((resolve) => {
    const sent = request(`${url}/get_completion_v2`, { method: 'POST', agent: false, headers, signal });
    sent.on('response', (answer) => {
      answer.resume();
      resolve(answer.statusCode ?? 0);
    });
    sent.on('error', () => resolve(0));
    sent.write(Buffer.alloc(bytes - 1, ' '));
  });
}

/** Starts the assault; resolves when every part of it has reached its limit. It continues until the signal aborts. */
async function assault(api: ApiClient, files: FileServer, dataDir: string, sizes: typeof FULL, over: AbortSignal) {
  const counts = { hanging_runs: 0, runs_refused: 0, bodies_refused: 0, lists: 0, list_mb: 0, replays: 0 };
  const { members, memberBytes, replays, activeRuns, bodyBytes } = sizes;
  const repeat = (lanes: number, job: () => Promise<void>) => {
    const loop = async () => {
      for (; !over.aborted; await sleep(PAUSE_MS)) await job().catch(() => {});
    };
    for (let lane = 0; lane < lanes; lane += 1) void loop();
  };
  /** Starts a run that hangs; false if it was refused. */
  const hang = async (turn: number, url?: string): Promise<boolean> => {
    const apiIntegrationId = INTEGRATIONS[turn % INTEGRATIONS.length] ?? '';
    const attachments = url === undefined ? [] : [inputFile(url)];
    const reader = await api.complete({ apiIntegrationId, message: HANG, attachments });
    if (reader.status === 200) over.addEventListener('abort', () => reader.cut());
    else reader.cut();
    return reader.status === 200;
  };

  for (const apiIntegrationId of INTEGRATIONS) await api.post('/v2/integrations', { apiIntegrationId });
  const replayed = { apiIntegrationId: 'one', usageRequestId: 'replayed', message: 'Hello' };
  await (await api.complete(replayed)).whole();
  // Earlier versions accepted metadata of this size.
  for (let member = 0; member < members; member += 1) await api.put(`/v2/integrations/one/members/m${member}`, {});
  const metadata = JSON.stringify({ note: 'x'.repeat(memberBytes) });
  await askStore(dataDir, `update members set metadata_json = '${metadata}'`);
  // Files whose server never answers, and documents that take as long as the reader lets them.
  for (let place = 0; place < Math.min(16, activeRuns / 4); place += 1) {
    files.hold(`/hang-${place}`);
    await hang(place, files.url(`/hang-${place}`));
  }
  for (let place = 0; place < 4; place += 1)
    await hang(place, files.serve(`/endless-${place}.pdf`, endlessPdf(), 'application/pdf'));

  repeat(1, async () => {
    for (let turn = 0; await hang(turn); turn += 1) counts.hanging_runs += 1;
    counts.runs_refused += 1;
  });
  // Bodies that stop before their last byte, together larger than the limit of all bodies.
  repeat(STALLED, async () => {
    const status = await stall(api, bodyBytes - LEFT_BYTES, over);
    if (status === 503 || status === 0) counts.bodies_refused += 1;
  });
  repeat(LIST_READERS, async () => {
    const path = `${api.url}/v2/integrations/one/members?limit=200`;
    const answer = await fetch(path, { headers: api.authorization, signal: over });
    counts.list_mb += (await answer.arrayBuffer()).byteLength / 1e6;
    counts.lists += 1;
  });
  repeat(1, async () => {
    const readers = await Promise.all(Array.from({ length: replays }, () => api.complete(replayed)));
    await Promise.all(readers.map(({ over: end }) => end));
    counts.replays += readers.filter(({ headers }) => headers['x-run-replayed'] === 'true').length;
    await sleep(PAUSE_MS);
  });
  const isAtItsHeight = () =>
    counts.runs_refused > 0 && counts.bodies_refused > 1 && counts.lists >= LIST_READERS && counts.replays >= replays;
  await until('the assault at its height', isAtItsHeight, { limitMs: LIMIT_MS });
  return counts;
}

async function measure(api: ApiClient, files: FileServer, sizes: typeof FULL) {
  const [admittedMs, filesMs]: [number[], number[]] = [[], []];
  let refused = 0;
  let unread = 0;
  for (let done = 0; done < sizes.completions; done += 1) {
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
  return {
    completions: admittedMs.length,
    refused: expectEqual('completions of the other owner refused', refused, 0),
    median_ms: expectAtMost('median until a completion is admitted, in ms', quantile(admittedMs, 0.5), sizes.medianMs),
    p95_ms: quantile(admittedMs, 0.95),
    max_ms: quantile(admittedMs, 1),
    with_files: expectAtLeast('completions with files', filesMs.length, 1),
    files_unread: expectEqual('files of the other owner that were not read', unread, 0),
    files_max_ms: expectAtMost('longest completion with files, in ms', quantile(filesMs, 1), FILES_MS),
  };
}

export const proof: Proof = {
  name: 'fair',
  minutes: 2,
  faults: { 'shared-by-integration': /^completions of the other owner refused: expected 0, found \d+\.$/m },
  async run({ fault, scale }) {
    const sizes = scale(SHORT, FULL);
    const { bodyBytes, activeRuns } = sizes;
    await using files = await FileServer.start();
    const limits = { bodyBytes, bodiesBytes: 8 * bodyBytes, activeRuns };
    await using rig = await Rig.start({ fault, limits, env: files.env });
    rig.model.onCall = async (call) => {
      if (JSON.stringify(call.request.prompt).includes(HANG)) return;
      await call.text(ANSWER);
      await call.end();
    };
    const { body: owner } = await rig.api().post('/v2/owners', { email: 'other@example.com' });
    const other = rig.api().as(owner.apiKey);
    await other.post('/v2/integrations', { apiIntegrationId: 'other' });
    const over = new AbortController();
    // Requests that are still waiting end with the server.
    using _ = { [Symbol.dispose]: () => over.abort() };
    const counts = await assault(rig.api(), files, rig.dataDir, sizes, over.signal);
    const figures = await measure(other, files, sizes);
    expectAtLeast('hanging runs', counts.hanging_runs, 1);
    return { ...figures, ...counts, list_mb: Math.round(counts.list_mb) };
  },
};
