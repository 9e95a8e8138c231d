import { request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { ApiClient } from '@runwire/test-kit';

/*
 * The owner that does everything with which it can delay others, concurrently and until its thread is ended. It has its own
 * thread, so that it delays the server and not the client that measures.
 */

export interface AssaultSizes {
  readonly activeRuns: number;
  readonly bodyBytes: number;
  readonly replays: number;
  readonly readers: number;
}

export interface AssaultOptions {
  readonly url: string;
  readonly apiKey: string;
  readonly sizes: AssaultSizes;
  readonly hangingFiles: readonly string[];
  /** Null if commands cannot run here. */
  readonly commandIntegration: string | null;
}

/** The model never answers a run with this message. */
export const HANG = 'Never answer this.';
/** The model writes many words. */
export const MUCH = 'Write much.';
/** The model runs a command that writes many files. */
export const FILES = 'Write many files.';
export const INTEGRATIONS = ['one', 'two', 'three', 'four'];
export const MEMBER = 'reader';

const PAUSE_MS = 500;
const STALLED = 10;
export const LIST_READERS = 2;
/** Each stalled body is smaller than its limit by so much, to leave room for the replays' bodies. */
const LEFT_BYTES = 64 * 1024;

export const noCounts = () => ({
  hanging_runs: 0,
  runs_refused: 0,
  bodies_refused: 0,
  lists: 0,
  list_mb: 0,
  replays: 0,
  exports: 0,
  export_mb: 0,
  erasures: 0,
  commands: 0,
  long_reads: 0,
  streams_refused: 0,
});
export type AssaultCounts = ReturnType<typeof noCounts>;

class Assault {
  readonly #api: ApiClient;
  readonly #options: AssaultOptions;
  readonly #counts = noCounts();

  constructor(options: AssaultOptions) {
    this.#options = options;
    this.#api = new ApiClient(options.url, options.apiKey);
  }

  async start(): Promise<void> {
    const { sizes, hangingFiles, commandIntegration } = this.#options;
    const api = this.#api;
    for (const [turn, url] of hangingFiles.entries()) await this.#hang(turn, url);
    const { body: minted } = await api.post('/v2/integrations/one/client_tokens', {
      consumerId: MEMBER,
      can: ['read'],
    });
    const { body: runs } = await api.get('/v2/integrations/one/chat_status?chatId=long');
    const long = `/v2/integrations/one/runs/${runs.run.runId}/events`;
    setInterval(() => parentPort?.postMessage(this.#counts), PAUSE_MS / 2);

    this.#repeat(1, async () => {
      for (let turn = 0; await this.#hang(turn); turn += 1) this.#counts.hanging_runs += 1;
      this.#counts.runs_refused += 1;
    });
    // Bodies that stop before their last byte, together larger than the limit of all bodies.
    this.#repeat(STALLED, async () => {
      const status = await this.#stall(sizes.bodyBytes - LEFT_BYTES);
      if (status === 503 || status === 0) this.#counts.bodies_refused += 1;
    });
    this.#repeat(LIST_READERS, async () => {
      await this.#read('/v2/integrations/one/members?limit=200', api.authorization, (bytes) => {
        this.#counts.list_mb += bytes / 1e6;
      });
      this.#counts.lists += 1;
    });
    const replayed = { apiIntegrationId: 'one', usageRequestId: 'replayed', message: 'Hello' };
    this.#repeat(1, async () => {
      const readers = await Promise.all(Array.from({ length: sizes.replays }, () => api.complete(replayed)));
      await Promise.all(readers.map(({ over }) => over));
      this.#counts.replays += readers.filter(({ headers }) => headers['x-run-replayed'] === 'true').length;
    });
    this.#repeat(2, async () => {
      await this.#read('/v2/integrations/one/usage?format=csv', api.authorization, (bytes) => {
        this.#counts.export_mb += bytes / 1e6;
      });
      this.#counts.exports += 1;
    });
    let erased = 0;
    this.#repeat(1, async () => {
      const path = `/v2/integrations/two/members/gone-${erased++}`;
      await api.put(path, {});
      const { status } = await api.call('DELETE', `${path}?erase=true`);
      if (status === 202) this.#counts.erasures += 1;
    });
    const token = { authorization: `Bearer ${minted.clientToken}` };
    this.#repeat(1, async () => {
      const readers = Array.from({ length: sizes.readers }, () => this.#read(long, token).catch(() => null));
      for (const status of await Promise.all(readers)) {
        if (status === 200) this.#counts.long_reads += 1;
        else if (status === 429) this.#counts.streams_refused += 1;
      }
    });
    if (commandIntegration === null) return;
    this.#repeat(2, async () => {
      const reader = await api.complete({ apiIntegrationId: commandIntegration, message: FILES });
      if (await reader.over) this.#counts.commands += 1;
    });
  }

  #repeat(lanes: number, job: () => Promise<void>): void {
    const loop = async () => {
      for (;;) {
        await job().catch(() => {});
        await sleep(PAUSE_MS);
      }
    };
    for (let lane = 0; lane < lanes; lane += 1) void loop();
  }

  /** Starts a run that hangs; false if it was refused. */
  async #hang(turn: number, url?: string): Promise<boolean> {
    const apiIntegrationId = INTEGRATIONS[turn % INTEGRATIONS.length] ?? '';
    const attachments = url === undefined ? [] : [{ type: 'input_file', file_url: url }];
    const reader = await this.#api.complete({ apiIntegrationId, message: HANG, attachments });
    if (reader.status !== 200) reader.cut();
    return reader.status === 200;
  }

  /** Sends a body up to its last byte; resolves to the answer's status, 0 if the connection closed without one. */
  #stall(bytes: number): Promise<number> {
    const { url, authorization } = this.#api;
    const headers = { ...authorization, 'content-type': 'application/json', 'content-length': String(bytes) };
    return new Promise((resolve) => {
      const sent = request(`${url}/get_completion_v2`, { method: 'POST', agent: false, headers });
      sent.on('response', (answer) => {
        answer.resume();
        resolve(answer.statusCode ?? 0);
      });
      sent.on('error', () => resolve(0));
      sent.write(Buffer.alloc(bytes - 1, ' '));
    });
  }

  /** Reads an answer on a new connection, and discards its body. Resolves to its status. */
  #read(path: string, headers: Readonly<Record<string, string>>, onBytes = (_bytes: number) => {}): Promise<number> {
    return new Promise((resolve, reject) => {
      const sent = request(this.#api.url + path, { agent: false, headers }, (answer) => {
        answer.on('data', (chunk: Buffer) => onBytes(chunk.length));
        answer.on('end', () => resolve(answer.statusCode ?? 0)).on('error', reject);
      });
      sent.on('error', reject).end();
    });
  }
}

if (parentPort !== null) await new Assault(workerData as AssaultOptions).start();
