import { setTimeout as sleep } from 'node:timers/promises';
import {
  answerOf,
  type Frame,
  imageAttachment,
  type ModelCall,
  pngOf,
  type ServerProcess,
  type ShownImage,
  type StreamReader,
} from '@runwire/test-kit';
import { expectEqual, expectNumber, Shortfall, until } from './proof.ts';
import type { Rig } from './rig.ts';

const PAUSE_MS = 50;
const BACKENDS = 3;
const RACERS = 6;
const RACE_LIMIT = 3;
const MEMBERS = ['member-1', 'member-2', 'member-3', 'member-4'];
const IMAGE = pngOf(5000, 7);
const FOUND = 'Found. ';
const TALK_WORDS = 500;

/** A server of either version. */
export interface UpgradeNode {
  readonly process: ServerProcess;
  readonly isOld: boolean;
  /** True from the signal on. */
  isStopping: boolean;
}

/** The first word of a message tells the model what to do: answer, use a tool, be held after a tool, or talk until cancelled. */
type Kind = 'plain' | 'tool' | 'long' | 'talk';
const kindOf = (message: string) => message.split(' ')[0] as Kind;
const usesTool = (kind: Kind) => kind === 'tool' || kind === 'long';

/** The answer shows the tool's output and the place of the message in its chat. */
const answerTo = (message: string, turn: number) =>
  `${usesTool(kindOf(message)) ? `Looking. ${FOUND}` : ''}To ${message}, as message ${turn}.`;

interface Body {
  readonly apiIntegrationId: string;
  readonly consumerId: string;
  readonly usageRequestId: string;
  readonly message: string;
  readonly [field: string]: unknown;
}

/** One request, sent until a server reports its outcome. */
export interface Request {
  readonly body: Body;
  runId: string | null;
  /** The server that admitted it, after a server has reported that. */
  node: UpgradeNode | null;
  /** True if a post without an answer may have been admitted. */
  isUnknown: boolean;
  /** The number of answers that were not a replay. */
  firsts: number;
  frames: readonly Frame[];
}

/** Requests of every kind from several backends, to the servers that are open. The model and its tool run in this process. */
export class UpgradeLoad {
  readonly tally = { posts: 0, replays: 0, refused: 0, cancelled: 0, unavailable: 0, reattached: 0 };
  /** Admitted requests by their runs. */
  readonly runs = new Map<string, Request>();
  open: UpgradeNode[] = [];
  #failure: unknown = null;
  #finished = 0;
  #ids = 0;
  #turn = 0;
  #isOn = true;
  #backends: Promise<unknown> = Promise.resolve();
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
    const kind = kindOf(message);
    const last = prompt.at(-1);
    // An earlier version calls attachments images.
    const shown = users.at(-1) as { attachments?: readonly ShownImage[]; images?: readonly ShownImage[] } | undefined;
    const images = (shown?.attachments ?? shown?.images ?? []).map(({ base64 }) => base64);
    expectEqual(`images of a ${kind} run`, images, kind === 'long' ? [IMAGE.toString('base64')] : []);
    if (usesTool(kind) && last?.kind !== 'tool_output') {
      const isForgotten = gate.calls.some(({ callId }) => callId === `call-${runId}`);
      expectNumber(`calls of the model for the finished step 1 of ${runId}`, isForgotten ? 2 : 1, 1);
      await call.text('Looking. ');
      await call.toolCall(`call-${runId}`, 'gate', JSON.stringify({ port: gate.port }));
      return call.end();
    }
    // The prompt of a later attempt may contain that the outcome of the tool call is unknown.
    if (last?.kind === 'tool_output' && attempt === 1) expectEqual('output of the tool', last.output, FOUND);
    // The call is held while its server lives. It keeps sending, because silence would end the run.
    while (kind === 'long' && attempt === 1) {
      if (call.isClosed) return;
      await call.text('still ');
      await Promise.race([sleep(1000), call.closed]);
    }
    const talk = kind === 'talk' ? Array<string>(TALK_WORDS).fill('and ') : [];
    const found = last?.kind === 'tool_output' ? FOUND : '';
    for (const word of [...talk, ...`${found}To ${message}, as message ${users.length}.`.split(/(?<= )/)]) {
      if (call.isClosed) return;
      await call.text(word);
      await sleep(10);
    }
    await call.end();
  }

  /** A run changes its server only after that server was asked to stop. */
  #mayTry(runId: string, attempt: number): void {
    const node = this.runs.get(runId)?.node ?? null;
    if (attempt === 1 || node === null || node.isStopping) return;
    const whose = node.isOld ? 'a living server of the earlier version' : 'a living server';
    throw new Shortfall(`Runs taken from ${whose}: expected 0, found ${runId}.`);
  }

  get #next(): UpgradeNode {
    this.#turn += 1;
    return this.open[this.#turn % this.open.length] as UpgradeNode;
  }

  async #pause(): Promise<void> {
    if (this.#failure !== null) throw this.#failure;
    await sleep(PAUSE_MS);
  }

  /** Asks one server after the other until one answers. Answers of two versions are compared with no schema. */
  async #put(path: string, body: object): Promise<void> {
    for (;;) {
      const { url, authorization } = this.#next.process.api;
      const headers = { ...authorization, 'content-type': 'application/json' };
      const answer = await fetch(url + path, { method: 'PUT', headers, body: JSON.stringify(body) }).catch(() => null);
      await answer?.arrayBuffer().catch(() => {});
      if (answer?.ok) return;
      await this.#pause();
    }
  }

  #request(kind: Kind, more: Partial<Body> = {}): Request {
    this.#ids += 1;
    const consumerId = MEMBERS[this.#ids % MEMBERS.length] ?? '';
    const message = `${kind} ${this.#ids}`;
    const body = { apiIntegrationId: 'load', consumerId, usageRequestId: `request-${this.#ids}`, message, ...more };
    return { body, runId: null, node: null, isUnknown: false, firsts: 0, frames: [] };
  }

  /** Returns null if the request was refused because the member's allowance is used up. */
  async #send(request: Request, to?: UpgradeNode): Promise<StreamReader | null> {
    const { usageRequestId: id } = request.body;
    for (;;) {
      const node = to ?? this.#next;
      this.tally.posts += 1;
      // The state before this post: a concurrent post may learn more.
      const known = request.runId;
      const reader = await node.process.api.complete(request.body).catch(() => null);
      const admitted = reader?.headers['x-agent-run-admitted'];
      if (reader?.status === 200) {
        const isReplay = reader.headers['x-run-replayed'] === 'true';
        const runId = String(reader.headers['x-run-id']);
        expectEqual(`answer to ${id}`, [admitted, runId], ['true', request.runId ?? runId]);
        if (known !== null) expectEqual(`replay of ${id}, sent again`, isReplay, true);
        // The answer to every earlier post claimed that it reserved nothing.
        else if (!request.isUnknown) expectEqual(`replay of ${id}, which had no run`, isReplay, false);
        if (isReplay) this.tally.replays += 1;
        else {
          request.firsts = expectNumber(`first answers to ${id}`, request.firsts + 1, 1);
          request.node = node;
        }
        request.runId = runId;
        this.runs.set(runId, request);
        return reader;
      }
      await reader?.over;
      if (reader?.status === 429) {
        const { code } = JSON.parse(reader.text);
        const expected = ['false', 'consumer_allowance_exhausted', null];
        expectEqual(`refusal of ${id}`, [admitted, code, request.runId], expected);
        return null;
      }
      expectNumber(`status of a refused ${id}`, reader?.status ?? 503, 503);
      this.tally.unavailable += 1;
      if (admitted !== 'false') request.isUnknown = true;
      await this.#pause();
    }
  }

  /** Reads to the end of the run on any server; returns the answer that the frames make. */
  async #readToEnd({ body, runId }: Request, first: StreamReader): Promise<readonly Frame[]> {
    const frames: Frame[] = [];
    for (let reader: StreamReader | null = first; ; ) {
      await reader?.over;
      if (reader?.status === 200) frames.push(...reader.frames);
      const last = frames.at(-1);
      if (last?.event === 'end') return frames;
      if (reader?.status === 204) throw new Shortfall(`\`end\` after frame ${last?.id}: expected 1, found 0.`);
      await this.#pause();
      this.tally.reattached += 1;
      const { api } = this.#next.process;
      reader = await api.events(String(runId), last?.id ?? 0, body.apiIntegrationId).catch(() => null);
    }
  }

  async #completes(request: Request, sent: StreamReader | null, turn = 1): Promise<void> {
    if (sent === null) throw new Shortfall(`admissions of ${request.body.usageRequestId}: expected 1, found 0.`);
    request.frames = await this.#readToEnd(request, sent);
    expectEqual('answer', answerOf(request.frames), answerTo(request.body.message, turn));
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
      const { api } = (request.node ?? this.#next).process;
      const { url, authorization: headers } = api;
      const path = `/v2/integrations/load/runs/${request.runId}/cancel`;
      await fetch(url + path, { method: 'POST', headers }).catch(() => {});
      request.frames = await this.#readToEnd(request, reader as StreamReader);
    },
    // The same request concurrently to two servers.
    async () => {
      const request = { ...this.#request('plain'), isUnknown: true };
      const readers = await Promise.all([this.#send(request), this.#send(request)]);
      await Promise.all(readers.map((reader) => this.#completes(request, reader)));
    },
    // More requests of a member than its allowance.
    async () => {
      // The member has a unique name, because two backends may race concurrently.
      this.#ids += 1;
      const consumerId = `racer-${this.#ids}`;
      await this.#put(`/v2/integrations/race/members/${consumerId}`, {});
      const make = () => this.#request('plain', { apiIntegrationId: 'race', consumerId });
      const requests = Array.from({ length: RACERS }, make);
      const readers = await Promise.all(requests.map((request) => this.#send(request)));
      const admitted = requests.filter(({ runId }) => runId !== null);
      this.tally.refused += RACERS - expectNumber('requests admitted of a member', admitted.length, RACE_LIMIT);
      await Promise.all(
        admitted.map((request) => this.#completes(request, readers[requests.indexOf(request)] ?? null)),
      );
    },
    // A run that uses a tool, and the same request again.
    async () => {
      const request = this.#request('tool');
      await this.#completes(request, await this.#send(request));
      await this.#completes(request, await this.#send(request));
    },
  ];

  async start(): Promise<void> {
    const fields = { agency: 'gate', allowances: { unit: 'tokens', limit: 1_000_000_000, period: 'lifetime' } };
    await this.#rig.prepare({ apiIntegrationId: 'load', ...fields });
    const runs = { unit: 'runs', limit: RACE_LIMIT, period: 'lifetime' };
    await this.#rig.prepare({ apiIntegrationId: 'race', agency: 'gate', allowances: runs });
    for (const member of MEMBERS) await this.#put(`/v2/integrations/load/members/${member}`, {});
    const backend = async (place: number) => {
      for (let turn = place; this.#isOn; turn += 1) {
        await this.#works[turn % this.#works.length]?.();
        this.#finished += 1;
        await sleep(this.#restMs);
      }
    };
    this.#backends = Promise.all(Array.from({ length: BACKENDS }, (_, place) => backend(place).catch(this.#fail)));
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
    let isDone = false;
    void this.#backends.then(() => {
      isDone = true;
    });
    await this.#untilDone('end of all requests', () => isDone);
  }

  /** Runs that are held on this server for as long as it lives; the result waits for their ends elsewhere. */
  async hold(node: UpgradeNode, count: number): Promise<() => Promise<void>> {
    const requests = Array.from({ length: count }, () =>
      this.#request('long', { attachments: [imageAttachment(IMAGE)] }),
    );
    const readers = await Promise.all(requests.map((request) => this.#send(request, node)));
    let ended = 0;
    const end = async (request: Request, place: number) => {
      await this.#completes(request, readers[place] ?? null);
      ended += 1;
    };
    for (const [place, request] of requests.entries()) end(request, place).catch(this.#fail);
    return () => this.#untilDone('end of the runs that were let go', () => ended === count);
  }
}
