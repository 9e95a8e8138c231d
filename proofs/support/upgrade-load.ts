import { setTimeout as sleep } from 'node:timers/promises';
import { imageAttachment, type StreamReader } from '@runwire/test-kit';
import { expectEqual, expectNumber, Shortfall, within } from './proof.ts';
import { answerTo, IMAGE, kindOf } from './upgrade-model.ts';
import type { UpgradeNode, UpgradeNodes } from './upgrade-nodes.ts';
import { type RequestBody, type Tally, UpgradeRequest } from './upgrade-request.ts';

const WAIT_MS = 60_000;
const BACKENDS = 3;
const TURNS = 3;
const RACERS = 6;
const RACE_LIMIT = 3;
export const LOAD = 'load';
const RACE = 'race';
const MEMBERS = ['member-1', 'member-2', 'member-3', 'member-4'];

/** Requests of several backends at once, of every kind, to whichever servers are open. */
export class UpgradeLoad {
  readonly tally: Tally = { posts: 0, replays: 0, unavailable: 0, reattached: 0 };
  /** Admitted requests by their runs. */
  readonly runs = new Map<string, UpgradeRequest>();
  readonly refused: UpgradeRequest[] = [];
  cancelled = 0;
  readonly #nodes: UpgradeNodes;
  readonly #failed = new AbortController();
  readonly #done: (() => void)[] = [];
  #finished = 0;
  #ids = 0;
  #racers = 0;
  #isOn = true;
  #backends: Promise<unknown> = Promise.resolve();
  /** Between two pieces of work of a backend: all servers share one machine with it, and starts are to come through. */
  readonly #restMs: number;

  constructor(nodes: UpgradeNodes, restMs: number) {
    this.#nodes = nodes;
    this.#restMs = restMs;
  }

  get #signal(): AbortSignal {
    return this.#failed.signal;
  }

  /** The first one ends everything. */
  readonly fail = (error: unknown): void => {
    if (!this.#signal.aborted) this.#failed.abort(error);
  };

  /** A wait that a violation ends. */
  async #unlessFailed<T>(what: string, work: Promise<T>): Promise<T> {
    const failed = Promise.withResolvers<never>();
    const fail = () => failed.reject(this.#signal.reason);
    if (this.#signal.aborted) fail();
    this.#signal.addEventListener('abort', fail);
    try {
      return await within(what, WAIT_MS, Promise.race([work, failed.promise]));
    } finally {
      this.#signal.removeEventListener('abort', fail);
    }
  }

  async prepare(): Promise<void> {
    const make = async (apiIntegrationId: string, unit: string, limit: number) => {
      const allowances = { unit, limit, period: 'lifetime' };
      const body = { apiIntegrationId, name: apiIntegrationId, agency: 'gate', allowances };
      const { status } = await this.#nodes.ask(this.#signal, 'POST', '/v2/integrations', body);
      expectNumber('status of the integration', status, 201);
    };
    await make(LOAD, 'tokens', 1_000_000_000);
    await make(RACE, 'runs', RACE_LIMIT);
    for (const member of MEMBERS) await this.#putMember(LOAD, member);
  }

  async #putMember(integration: string, member: string): Promise<void> {
    const path = `/v2/integrations/${integration}/members/${member}`;
    const { status } = await this.#nodes.ask(this.#signal, 'PUT', path, {});
    // Twice where the first answer was lost.
    expectEqual('member registered', [200, 201].includes(status), true);
  }

  /** The backends begin. */
  start(): void {
    const kinds = [this.#chat, this.#talk, this.#twins, this.#race, this.#tool];
    const backend = async (place: number) => {
      for (let turn = place; this.#isOn; turn += 1) {
        await kinds[turn % kinds.length]?.call(this);
        this.#finished += 1;
        for (const done of this.#done.splice(0)) done();
        await sleep(this.#restMs);
      }
    };
    const all = Array.from({ length: BACKENDS }, (_, place) => backend(place).catch(this.fail));
    this.#backends = Promise.all(all);
  }

  /** Resolves when so many more pieces of work are done. */
  async goOn(more: number): Promise<void> {
    const until = this.#finished + more;
    while (this.#finished < until) {
      await this.#unlessFailed('more requests', new Promise<void>((resolve) => this.#done.push(resolve)));
    }
  }

  async goOnFor(ms: number): Promise<void> {
    await this.#unlessFailed('time of both versions together', sleep(ms));
  }

  /** No new work; resolves when all that was begun is done. */
  async end(): Promise<void> {
    this.#isOn = false;
    await this.#unlessFailed('end of all requests', this.#backends);
    this.#signal.throwIfAborted();
  }

  async settle(): Promise<void> {
    this.#isOn = false;
    // After a violation a stream may never end: its server goes next, and the backends with it.
    if (this.#signal.aborted) return;
    await within('end of the backends', WAIT_MS, this.#backends).catch(() => {});
  }

  #request(message: string, more: Partial<RequestBody> = {}): UpgradeRequest {
    this.#ids += 1;
    const consumerId = MEMBERS[this.#ids % MEMBERS.length] ?? '';
    const body = { apiIntegrationId: LOAD, consumerId, usageRequestId: `request-${this.#ids}`, ...more };
    return new UpgradeRequest({ ...body, message: `${message} ${this.#ids}` }, this.#nodes, this.tally, this.#signal);
  }

  #admitted(request: UpgradeRequest, reader: StreamReader | null): StreamReader {
    if (reader === null || request.runId === null) {
      throw new Shortfall(`Request ${request.body.usageRequestId}: expected to be admitted, found a refusal.`);
    }
    this.runs.set(request.runId, request);
    return reader;
  }

  /** To its end, and that is as it must be. */
  async #completes(request: UpgradeRequest, sent: StreamReader | null, turn = 1): Promise<void> {
    const reader = this.#admitted(request, sent);
    const expected = answerTo(request.body.message, turn);
    const answer = await request.readToEnd(reader);
    expectEqual(`answer to ${request.body.usageRequestId}`, answer, expected);
    await request.checkEnd('completed', expected);
  }

  async #chat(): Promise<void> {
    const chatId = `chat-${this.#ids + 1}`;
    const consumerId = MEMBERS[0] ?? '';
    for (let turn = 1; turn <= TURNS; turn += 1) {
      const request = this.#request(turn === 2 ? 'tool' : 'plain', { chatId, consumerId });
      await this.#completes(request, await request.send(), turn);
    }
  }

  async #tool(): Promise<void> {
    const request = this.#request('tool');
    await this.#completes(request, await request.send());
    const again = await request.send();
    expectEqual(
      'answer to a request sent again',
      again && (await request.readToEnd(again)),
      answerTo(request.body.message, 1),
    );
  }

  async #twins(): Promise<void> {
    const request = this.#request('plain');
    const readers = await request.sendTwice();
    await Promise.all(readers.map((reader) => this.#completes(request, reader)));
  }

  /** More requests of a member than it may have runs. */
  async #race(): Promise<void> {
    this.#racers += 1;
    const consumerId = `racer-${this.#racers}`;
    await this.#putMember(RACE, consumerId);
    const requests = Array.from({ length: RACERS }, () =>
      this.#request('plain', { apiIntegrationId: RACE, consumerId }),
    );
    const readers = await Promise.all(requests.map((request) => request.send()));
    expectNumber('requests admitted of a member', readers.filter((reader) => reader !== null).length, RACE_LIMIT);
    await Promise.all(
      requests.map((request, place) => {
        const reader = readers[place] ?? null;
        if (reader !== null) return this.#completes(request, reader);
        this.refused.push(request);
        return undefined;
      }),
    );
  }

  /** Cancelled in the middle, where it was admitted. */
  async #talk(): Promise<void> {
    const request = this.#request('talk');
    const reader = this.#admitted(request, await request.send());
    await reader.untilText('and ').catch(() => {});
    await (request.node ?? this.#nodes.next).ask('POST', `${request.path}/cancel`);
    const answer = await request.readToEnd(reader);
    const { body } = await this.#nodes.ask(this.#signal, 'GET', request.path);
    expectEqual(`end of ${request.body.usageRequestId}`, ['cancelled', 'completed'].includes(body.status), true);
    await request.checkEnd(body.status, answer);
    if (body.status === 'cancelled') this.cancelled += 1;
  }

  /** Runs that are held on this server for as long as it lives; resolves to what awaits their ends elsewhere. */
  async hold(node: UpgradeNode, runs: number): Promise<() => Promise<void>> {
    const attachments = [imageAttachment(IMAGE)];
    const requests = Array.from({ length: runs }, () => this.#request('long', { attachments }));
    const readers = await Promise.all(requests.map((request) => request.send(node)));
    requests.forEach((request, place) => {
      this.#admitted(request, readers[place] ?? null);
    });
    const ends = requests.map((request, place) => this.#completes(request, readers[place] ?? null));
    for (const end of ends) end.catch(this.fail);
    return () =>
      this.#unlessFailed(
        'end of the runs that were let go',
        Promise.all(ends).then(() => {}),
      );
  }

  /** A run changes its server only where that was told to stop. */
  readonly mayTry = (runId: string, attempt: number): void => {
    const request = this.runs.get(runId);
    if (attempt === 1 || request?.node === null || request?.node === undefined || request.node.isStopping) return;
    const whose = request.node.isOld ? 'a living server of the earlier version' : 'a living server';
    throw new Shortfall(`Runs taken from ${whose}: expected 0, found ${runId} (${kindOf(request.body.message)}).`);
  };
}
