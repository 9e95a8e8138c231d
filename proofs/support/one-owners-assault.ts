import { request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ApiClient, endlessPdf, type FileServer, type StreamReader } from '@runwire/test-kit';
import { askStore } from '../../test/support/ask-store.ts';
import { expectAtLeast } from './proof.ts';

/** The model never answers a run with this message. */
export const HANG = 'Never answer this.';

const INTEGRATIONS = ['one', 'two', 'three', 'four'];
const PAUSE_MS = 500;
const REPLAY_PAUSE_MS = 1000;
/** Each stalled body is smaller than its limit by so much, to leave room for the bodies of the replays. */
const LEFT_BYTES = 64 * 1024;
const LIST_READERS = 2;

export interface AssaultOptions {
  readonly api: ApiClient;
  readonly files: FileServer;
  readonly dataDir: string;
  readonly activeRuns: number;
  readonly bodyBytes: number;
  readonly members: number;
  readonly memberBytes: number;
  readonly replays: number;
}

export interface Assault extends Disposable {
  /** Resolves when every part of the assault has reached its limit. */
  readonly atItsHeight: Promise<void>;
  figures(): Record<string, number>;
}

/** Starts everything with which one owner with four integrations can delay the others, concurrently. */
export async function startAssault(options: AssaultOptions): Promise<Assault> {
  const { api, files, dataDir, members, memberBytes, replays, activeRuns, bodyBytes } = options;
  const over = new AbortController();
  const open: StreamReader[] = [];
  const counts = { bodies_refused: 0, runs_refused: 0, hanging_runs: 0, lists: 0, list_mb: 0, replays: 0 };
  for (const apiIntegrationId of INTEGRATIONS) await api.post('/v2/integrations', { apiIntegrationId });
  const replayed = { apiIntegrationId: 'one', usageRequestId: 'replayed', message: 'Hello' };
  await (await api.complete(replayed)).whole();

  // Earlier versions took metadata of this size.
  for (let member = 0; member < members; member += 1) await api.put(`/v2/integrations/one/members/m${member}`, {});
  const metadata = JSON.stringify({ note: 'x'.repeat(memberBytes) });
  await askStore(dataDir, `update members set metadata_json = '${metadata}'`);

  const repeat = (job: (round: number) => Promise<void>) => {
    const loop = async () => {
      for (let round = 0; !over.signal.aborted; round += 1) {
        await job(round).catch(() => {});
        await sleep(PAUSE_MS);
      }
    };
    void loop();
  };
  const complete = async (fields: object, turn: number): Promise<boolean> => {
    const apiIntegrationId = INTEGRATIONS[turn % INTEGRATIONS.length] ?? '';
    const reader = await api.complete({ apiIntegrationId, message: HANG, ...fields });
    if (reader.status === 200) open.push(reader);
    else reader.cut();
    return reader.status === 200;
  };
  const file = (url: string) => ({ attachments: [{ type: 'input_file', file_url: url }] });

  // Files whose server never answers, and documents that take as long as the reader lets them.
  for (let place = 0; place < Math.min(16, activeRuns / 4); place += 1) {
    files.hold(`/hang-${place}`);
    await complete(file(files.url(`/hang-${place}`)), place);
  }
  for (let place = 0; place < 4; place += 1) {
    await complete(file(files.serve(`/endless-${place}.pdf`, endlessPdf(), 'application/pdf')), place);
  }
  // Starts runs until one is refused, again and again.
  const full = Promise.withResolvers<void>();
  repeat(async () => {
    for (let turn = 0; await complete({}, turn); turn += 1) counts.hanging_runs += 1;
    counts.runs_refused += 1;
    full.resolve();
  });
  // Bodies that stop before their last byte, together larger than the limit of all bodies.
  const stalled = Promise.withResolvers<void>();
  for (let place = 0; place < 10; place += 1) {
    repeat(async () => {
      const status = await stall(api, bodyBytes - LEFT_BYTES, over.signal);
      if (status === 503 || status === 0) counts.bodies_refused += 1;
      if (counts.bodies_refused > 1) stalled.resolve();
    });
  }
  const listed = Promise.withResolvers<void>();
  for (let place = 0; place < LIST_READERS; place += 1) {
    repeat(async () => {
      const { url, authorization: headers } = api;
      const answer = await fetch(`${url}/v2/integrations/one/members?limit=200`, { headers, signal: over.signal });
      counts.list_mb += (await answer.arrayBuffer()).byteLength / 1e6;
      counts.lists += 1;
      if (counts.lists >= LIST_READERS) listed.resolve();
    });
  }
  const replaying = Promise.withResolvers<void>();
  repeat(async () => {
    const readers = await Promise.all(Array.from({ length: replays }, () => api.complete(replayed)));
    await Promise.all(readers.map(({ over }) => over));
    counts.replays += readers.filter(({ headers }) => headers['x-run-replayed'] === 'true').length;
    if (counts.replays >= replays) replaying.resolve();
    await sleep(REPLAY_PAUSE_MS);
  });
  return {
    atItsHeight: Promise.all([full.promise, stalled.promise, listed.promise, replaying.promise]).then(() => {}),
    figures: () => ({
      hanging_runs: expectAtLeast('hanging runs', counts.hanging_runs, 1),
      runs_refused: expectAtLeast('runs of the first owner refused', counts.runs_refused, 1),
      bodies_refused: expectAtLeast('bodies of the first owner refused', counts.bodies_refused, 1),
      lists: expectAtLeast('large lists read', counts.lists, 1),
      list_mb: Math.round(counts.list_mb),
      replays: counts.replays,
    }),
    // Requests that are still waiting end with the server.
    [Symbol.dispose]() {
      over.abort();
      for (const reader of open) reader.cut();
    },
  };
}

/** Sends a body up to its last byte; resolves to the status of the answer, 0 if the connection closed without one. */
function stall({ url, authorization }: ApiClient, bytes: number, over: AbortSignal): Promise<number> {
  const headers = { ...authorization, 'content-type': 'application/json', 'content-length': String(bytes) };
  return new Promise((resolve) => {
    const sent = request(`${url}/get_completion_v2`, { method: 'POST', agent: false, headers, signal: over });
    sent.on('response', (answer) => {
      answer.resume();
      resolve(answer.statusCode ?? 0);
    });
    sent.on('error', () => resolve(0));
    sent.write(Buffer.alloc(bytes - 1, ' '));
  });
}
