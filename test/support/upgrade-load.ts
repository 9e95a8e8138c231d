import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Frame,
  imageAttachment,
  type ModelCall,
  makePng,
  type Rig,
  type ServerProcess,
  type ShownImage,
  type StreamReader,
  toAnswer,
} from '@runwire/test-kit';
import { expectEqual, Shortfall, until, WAIT_MS } from '@runwire/test-kit/shortfall.ts';

const PAUSE_MS = 50;
const BACKENDS = 3;
const RACERS = 6;
const RACE_LIMIT = 3;
const MEMBERS = ['member-1', 'member-2', 'member-3', 'member-4'];
const IMAGE = makePng(5000, 7);
const FOUND = 'Found. ';

/** The first word of a message tells the model what to do: answer, use a tool, be held after a tool, or talk until cancelled. */
type Kind = 'plain' | 'tool' | 'long' | 'talk';

interface Body {
  readonly apiIntegrationId: string;
  readonly consumerId: string;
  readonly usageRequestId: string;
  readonly message: string;
  readonly [field: string]: unknown;
}

/** One request, sent until a server reports its outcome. */
interface Request {
  readonly body: Body;
  runId: string | null;
  /** The server that admitted it, after a server has reported that. */
  server: ServerProcess | null;
  /** True if a post without an answer may have been admitted. */
  isUnknown: boolean;
  frames: readonly Frame[];
}

/** Requests of every kind from several backends, to all servers of the rig by turns. */
export class UpgradeLoad {
  readonly tally = { posts: 0, replays: 0, refused: 0, cancelled: 0, unavailable: 0, reattached: 0 };
  /** Admitted requests by their runs. */
  readonly runs = new Map<string, Request>();
  /** The earlier version's servers, and servers that were asked to stop. */
  readonly old = new Set<ServerProcess>();
  readonly stopping = new Set<ServerProcess>();
  #failure: unknown = null;
  #finished = 0;
  #ids = 0;
  #turn = 0;
  #isOn = true;
  #working = BACKENDS;
  readonly #rig: Rig;
  /** The pause between two requests. All servers share one machine, and new servers must be able to start. */
  readonly #restMs: number;

  constructor(rig: Rig, restMs: number) {
    this.#rig = rig;
    this.#restMs = restMs;
    rig.model.onCall = (call) => void this.#answer(call).catch(this.#fail);
    rig.gate.onCall = ({ callId }) => rig.gate.open(callId, FOUND);
  }

  /** The first failure ends everything. */
  readonly #fail = (error: unknown): void => {
    this.#failure ??= error;
  };

  /** The answer depends on the prompt alone, so it shows which history a server of either version sends. */
  async #answer(call: ModelCall): Promise<void> {
    const { runId, attempt, prompt } = call.request;
    this.#mayTry(runId, attempt);
    const { gate } = this.#rig;
    const users = prompt.filter((item) => item.kind === 'user');
    const message = users.at(-1)?.text ?? '';
    const kind = message.split(' ')[0] as Kind;
    const last = prompt.at(-1);
    // An earlier version calls attachments images.
    const shown = users.at(-1) as { attachments?: readonly ShownImage[]; images?: readonly ShownImage[] } | undefined;
    const images = (shown?.attachments ?? shown?.images ?? []).map(({ base64 }) => base64);
    expectEqual(`images of a ${kind} run`, images, kind === 'long' ? [IMAGE.toString('base64')] : []);
    if ((kind === 'tool' || kind === 'long') && last?.kind !== 'tool_output') {
      await call.text('Looking. ');
      await call.toolCall(`call-${runId}`, 'gate', JSON.stringify({ port: gate.port }));
      return call.end();
    }
    // The prompt of a later attempt may contain that the tool call's outcome is unknown.
    if (last?.kind === 'tool_output' && attempt === 1) expectEqual('output of the tool', last.output, FOUND);
    // The call is held while its server lives. It keeps sending, because silence would end the run.
    while (kind === 'long' && attempt === 1 && !call.isClosed) {
      await call.text('still ');
      await Promise.race([sleep(1000), call.closed]);
    }
    const talk = kind === 'talk' ? 'and '.repeat(500) : '';
    const found = last?.kind === 'tool_output' ? FOUND : '';
    for (const word of `${talk}${found}To ${message}, as message ${users.length}.`.split(/(?<= )/)) {
      if (call.isClosed) return;
      await call.text(word);
      await sleep(10);
    }
    await call.end();
  }

  /** A run changes its server only after that server was asked to stop. */
  #mayTry(runId: string, attempt: number): void {
    const server = this.runs.get(runId)?.server ?? null;
    if (attempt === 1 || server === null || this.stopping.has(server)) return;
    const whose = this.old.has(server) ? 'a living server of the earlier version' : 'a living server';
    throw new Shortfall(`Runs taken from ${whose}: expected 0, found ${runId}.`);
  }

  get #next(): ServerProcess {
    this.#turn += 1;
    return this.#rig.server(this.#turn % this.#rig.servers.length);
  }

  #request(kind: Kind, more: Partial<Body> = {}): Request {
    this.#ids += 1;
    const consumerId = MEMBERS[this.#ids % MEMBERS.length] ?? '';
    const ids = { apiIntegrationId: 'load', consumerId, usageRequestId: `request-${this.#ids}` };
    const body = { ...ids, message: `${kind} ${this.#ids}`, ...more };
    return { body, runId: null, server: null, isUnknown: false, frames: [] };
  }

  /** Returns null if the request was refused because the member's allowance is used up. */
  async #send(request: Request, to?: ServerProcess): Promise<StreamReader | null> {
    const { usageRequestId: id } = request.body;
    for (; ; await sleep(PAUSE_MS)) {
      if (this.#failure !== null) throw this.#failure;
      const server = to ?? this.#next;
      this.tally.posts += 1;
      // The state before this post: a concurrent post may learn more.
      const { runId: known, isUnknown } = request;
      const reader = await server.api.complete(request.body).catch(() => null);
      const admitted = reader?.headers['x-agent-run-admitted'];
      if (reader?.status === 200) {
        const isReplay = reader.headers['x-run-replayed'] === 'true';
        const runId = String(reader.headers['x-run-id']);
        expectEqual(`answer to ${id}`, [admitted, runId], ['true', request.runId ?? runId]);
        // The answer to every earlier post claimed that it reserved nothing.
        if (known !== null || !isUnknown) expectEqual(`replay of ${id}`, isReplay, known !== null);
        if (isReplay) this.tally.replays += 1;
        else {
          expectEqual(`earlier first answers to ${id}`, request.server, null);
          request.server = server;
        }
        request.runId = runId;
        this.runs.set(runId, request);
        return reader;
      }
      await reader?.over;
      if (reader?.status === 429) {
        const { code } = JSON.parse(reader.text);
        const found = [admitted, code, request.runId];
        expectEqual(`refusal of ${id}`, found, ['false', 'consumer_allowance_exhausted', null]);
        return null;
      }
      expectEqual(`status of a refused ${id}`, reader?.status ?? 503, 503);
      this.tally.unavailable += 1;
      if (admitted !== 'false') request.isUnknown = true;
    }
  }

  /** Reads to the end of the run on any server. */
  async #read(request: Request, first: StreamReader | null): Promise<void> {
    if (first === null) throw new Shortfall(`admissions of ${request.body.usageRequestId}: expected 1, found 0.`);
    const integration = request.body.apiIntegrationId;
    // A held run lasts as long as its server.
    const { frames, connections } = await this.#rig.follow(first, { integration, limitMs: 10 * WAIT_MS });
    this.tally.reattached += connections - 1;
    request.frames = frames;
  }

  /** The answer shows the tool's output and the message's place in its chat. */
  async #completes(request: Request, sent: StreamReader | null, turn = 1): Promise<void> {
    await this.#read(request, sent);
    const { message } = request.body;
    const looked = /^(tool|long) /.test(message) ? `Looking. ${FOUND}` : '';
    expectEqual('answer', toAnswer(request.frames), `${looked}To ${message}, as message ${turn}.`);
  }

  readonly #works: readonly (() => Promise<void>)[] = [
    // Three turns of one chat.
    async () => {
      const more = { chatId: `chat-${this.#ids + 1}`, consumerId: MEMBERS[0] ?? '' };
      for (let turn = 1; turn <= 3; turn += 1) {
        const request = this.#request(turn === 2 ? 'tool' : 'plain', more);
        await this.#completes(request, await this.#send(request), turn);
      }
    },
    // A run that is cancelled in the middle, on the server that admitted it.
    async () => {
      const request = this.#request('talk');
      const reader = await this.#send(request);
      await reader?.untilText('and ').catch(() => {});
      const { api } = request.server ?? this.#next;
      await api.post(`/v2/integrations/load/runs/${request.runId}/cancel`).catch(() => {});
      await this.#read(request, reader);
    },
    // The same request concurrently to two servers.
    async () => {
      const request = { ...this.#request('plain'), isUnknown: true };
      const readers = await Promise.all([this.#send(request), this.#send(request)]);
      await Promise.all(readers.map((reader) => this.#completes(request, reader)));
    },
    // More requests of a member than its allowance. The member has a unique name, because two backends may race concurrently.
    async () => {
      this.#ids += 1;
      const consumerId = `racer-${this.#ids}`;
      const path = `/v2/integrations/race/members/${consumerId}`;
      await until('a member', async () => (await this.#next.api.put(path, {}).catch(() => null))?.status === 201);
      const make = () => this.#request('plain', { apiIntegrationId: 'race', consumerId });
      const requests = Array.from({ length: RACERS }, make);
      const readers = await Promise.all(requests.map((request) => this.#send(request)));
      const admitted = requests.flatMap((request, place) =>
        request.runId === null ? [] : [[request, readers[place]] as const],
      );
      this.tally.refused += RACERS - expectEqual('requests admitted of a member', admitted.length, RACE_LIMIT);
      await Promise.all(admitted.map(([request, reader]) => this.#completes(request, reader ?? null)));
    },
    // A run that uses a tool, and the same request again.
    async () => {
      const request = this.#request('tool');
      for (let time = 1; time <= 2; time += 1) await this.#completes(request, await this.#send(request));
    },
  ];

  async start(): Promise<void> {
    const runs = { unit: 'runs', limit: RACE_LIMIT, period: 'lifetime' };
    await this.#rig.prepare({ apiIntegrationId: 'race', agency: 'gate', allowances: runs });
    const allowances = { unit: 'tokens', limit: 1_000_000_000, period: 'lifetime' };
    await this.#rig.prepare({ apiIntegrationId: 'load', agency: 'gate', allowances });
    for (const member of MEMBERS) await this.#rig.api().put(`${this.#rig.path}/members/${member}`, {});
    const backend = async (place: number) => {
      for (let turn = place; this.#isOn; turn += 1) {
        await this.#works[turn % this.#works.length]?.();
        this.#finished += 1;
        await sleep(this.#restMs);
      }
      this.#working -= 1;
    };
    for (let place = 0; place < BACKENDS; place += 1) backend(place).catch(this.#fail);
  }

  async #untilDone(what: string, isDone: () => boolean): Promise<void> {
    await until(what, () => {
      if (this.#failure !== null) throw this.#failure;
      return isDone();
    });
  }

  /** Resolves after this many more requests are done and this much time has passed. */
  async workFor(more: number, ms = 0): Promise<void> {
    const [target, end] = [this.#finished + more, performance.now() + ms];
    await this.#untilDone('more requests', () => this.#finished >= target && performance.now() >= end);
  }

  /** Starts no new work; resolves when everything is done. */
  async end(): Promise<void> {
    this.#isOn = false;
    await this.#untilDone('end of all requests', () => this.#working === 0);
  }

  /** Runs that are held on this server for as long as it lives; the result waits for their ends elsewhere. */
  async hold(server: ServerProcess, count: number): Promise<() => Promise<void>> {
    let ended = 0;
    for (let place = 0; place < count; place += 1) {
      const request = this.#request('long', { attachments: [imageAttachment(IMAGE)] });
      const completes = this.#completes(request, await this.#send(request, server));
      completes.then(() => {
        ended += 1;
      }, this.#fail);
    }
    return () => this.#untilDone('end of the runs that were let go', () => ended === count);
  }
}
