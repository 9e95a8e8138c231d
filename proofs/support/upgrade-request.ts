import { answerOf, type Frame, type StreamReader } from '@runwire/test-kit';
import { expectEqual, expectNumber, Shortfall } from './proof.ts';
import { pause, type UpgradeNode, type UpgradeNodes } from './upgrade-nodes.ts';

export interface RequestBody {
  readonly apiIntegrationId: string;
  readonly consumerId: string;
  readonly usageRequestId: string;
  readonly chatId?: string;
  readonly message: string;
  readonly attachments?: readonly unknown[];
}

/** Counted over all requests. */
export interface Tally {
  posts: number;
  replays: number;
  /** Answers of 503, and posts that nobody answered. */
  unavailable: number;
  /** Readers that were cut, or came to a server that has only a part, and came back. */
  reattached: number;
}

/** One request of a backend: sent until some server says what became of it, and again with the same id where it likes. */
export class UpgradeRequest {
  readonly body: RequestBody;
  runId: string | null = null;
  /** Who admitted it; null as long as nobody said so. */
  node: UpgradeNode | null = null;
  readonly #nodes: UpgradeNodes;
  readonly #tally: Tally;
  readonly #signal: AbortSignal;
  /** Some post may have been admitted without a word. */
  #isUnknown = false;
  #firsts = 0;

  constructor(body: RequestBody, nodes: UpgradeNodes, tally: Tally, signal: AbortSignal) {
    this.body = body;
    this.#nodes = nodes;
    this.#tally = tally;
    this.#signal = signal;
  }

  /** Its stream; null where it was refused for good. */
  async send(to?: UpgradeNode): Promise<StreamReader | null> {
    for (;;) {
      this.#signal.throwIfAborted();
      const node = to ?? this.#nodes.next;
      this.#tally.posts += 1;
      // As it is known before this post: a twin may learn more meanwhile.
      const known = this.runId;
      const reader = await node.api.complete({ ...this.body }).catch(() => null);
      if (reader?.status === 200) {
        this.#admitted(node, reader, known);
        return reader;
      }
      if (reader?.status === 429) {
        await reader.over;
        this.#refused(reader);
        return null;
      }
      if (reader !== null && reader.status !== 503) {
        await reader.over;
        throw this.#wrong(`expected 200, 429 or 503, found ${reader.status} ${reader.text}`);
      }
      this.#tally.unavailable += 1;
      if (reader?.headers['x-agent-run-admitted'] !== 'false') this.#isUnknown = true;
      await pause();
    }
  }

  /** At once to two servers: one run, and one of them admits it. */
  async sendTwice(): Promise<readonly (StreamReader | null)[]> {
    this.#isUnknown = true;
    return await Promise.all([this.send(), this.send()]);
  }

  #wrong(what: string): Shortfall {
    return new Shortfall(`Request ${this.body.usageRequestId}: ${what}.`);
  }

  #admitted(node: UpgradeNode, { headers }: StreamReader, known: string | null): void {
    const { usageRequestId } = this.body;
    expectEqual(`header of the admitted request ${usageRequestId}`, headers['x-agent-run-admitted'], 'true');
    const runId = String(headers['x-run-id']);
    if (this.runId !== null) expectEqual(`run of request ${usageRequestId}, sent again`, runId, this.runId);
    const isReplay = headers['x-run-replayed'] === 'true';
    if (known !== null) expectEqual(`replay of request ${usageRequestId}, sent again`, isReplay, true);
    if (isReplay) this.#tally.replays += 1;
    else this.#firsts += 1;
    if (this.#firsts > 1) throw this.#wrong('expected one first answer, found two');
    // Every post before this one was told that it reserved nothing.
    if (known === null && !this.#isUnknown && isReplay) {
      throw this.#wrong('expected no run behind answers that said so, found a replay');
    }
    this.runId = runId;
    if (!isReplay) this.node = node;
  }

  #refused({ headers, text }: StreamReader): void {
    const { usageRequestId } = this.body;
    expectEqual(`header of the refused request ${usageRequestId}`, headers['x-agent-run-admitted'], 'false');
    expectEqual(`refusal of ${usageRequestId}`, JSON.parse(text).code, 'consumer_allowance_exhausted');
    if (this.runId !== null) throw this.#wrong('expected its run again, found a refusal');
  }

  /** Reads to the end of the run, wherever that is; resolves to the answer that the frames make. */
  async readToEnd(first: StreamReader): Promise<string> {
    const frames: Frame[] = [];
    let reader: StreamReader | null = first;
    for (;;) {
      await reader?.over;
      if (reader?.status === 200) {
        for (const frame of reader.frames) {
          const before = frames.at(-1)?.id ?? 0;
          if (frame.id <= before) throw this.#wrong(`expected a frame after ${before}, found ${frame.id}`);
          frames.push(frame);
        }
      }
      const last = frames.at(-1);
      if (last?.event === 'end') return answerOf(frames);
      if (reader?.status === 204) throw this.#wrong(`expected \`end\` behind frame ${last?.id}, found an ended run`);
      this.#signal.throwIfAborted();
      await pause();
      this.#tally.reattached += 1;
      const { apiIntegrationId } = this.body;
      reader = await this.#nodes.next.api.events(String(this.runId), last?.id ?? 0, apiIntegrationId).catch(() => null);
    }
  }

  get path(): string {
    return `/v2/integrations/${this.body.apiIntegrationId}/runs/${this.runId}`;
  }

  /** Its end is durable once a reader has it: whichever server is asked knows it. */
  async checkEnd(status: string, answer: string): Promise<void> {
    const run = await this.#nodes.ask(this.#signal, 'GET', this.path);
    expectNumber(`status of GET ${this.path}`, run.status, 200);
    const { status: found, message, usageRequestId } = run.body;
    expectEqual(`end of ${this.body.usageRequestId}`, [found, message], [status, answer]);
    expectEqual(`request of ${this.runId}`, usageRequestId, this.body.usageRequestId);
  }
}
