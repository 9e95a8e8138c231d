import type { SignedLinkOptions } from '@runwire/test-kit';
import { type AttachmentStage, turnsOf } from './attachment-stage.ts';
import { expectEqual, expectNumber, Shortfall, within } from './proof.ts';

const WAIT_MS = 60_000;
const HOUR_MS = 3_600_000;

type Refreshes = Readonly<Record<string, string>>;

/** A chat about one file behind signed links. */
export class SignedChat {
  readonly #stage: AttachmentStage;
  readonly integration: string;
  readonly chatId: string;
  readonly path: string;
  readonly sentence: string;
  #prompt: readonly string[] = [];

  constructor(stage: AttachmentStage, integration: string, chatId: string) {
    this.#stage = stage;
    this.integration = integration;
    this.chatId = chatId;
    this.path = `/${integration}/${chatId}/report.txt`;
    this.sentence = `The report of ${chatId} is good.`;
    stage.files.serveSigned(this.path, this.sentence, 'text/plain');
  }

  /** What the file is known by. */
  get key(): string {
    return this.#stage.files.url(this.path);
  }

  sign(options: SignedLinkOptions = {}): string {
    return this.#stage.files.sign(this.path, options);
  }

  /** A link that was good when its server's clock was an hour behind, and shows that it is not any more. */
  signExpired(): string {
    return this.sign({ at: new Date(Date.now() - HOUR_MS), expiresSeconds: 60 });
  }

  /** While it is used, the file server's clock is an hour behind: what has expired was good then. */
  async anHourAgo<T>(work: () => Promise<T>): Promise<T> {
    this.#stage.files.now = () => Date.now() - HOUR_MS;
    try {
      return await work();
    } finally {
      this.#stage.files.now = Date.now;
    }
  }

  get requests(): number {
    return this.#stage.files.asked(this.path).length;
  }

  get lastQuery(): string {
    return this.#stage.files.asked(this.path).at(-1)?.query ?? '';
  }

  body(more: { readonly link?: string; readonly refreshes?: Refreshes } = {}) {
    return {
      apiIntegrationId: this.integration,
      chatId: this.chatId,
      message: more.link === undefined ? 'And now?' : 'What does it say?',
      ...(more.link === undefined ? {} : { attachments: [{ type: 'input_file', file_url: more.link }] }),
      ...(more.refreshes === undefined ? {} : { attachmentUrlRefreshes: more.refreshes }),
    };
  }

  /** A turn that completes: the file is in its prompt, which begins byte for byte as the last one was. */
  async turn(what: string, more: { readonly link?: string; readonly refreshes?: Refreshes } = {}): Promise<void> {
    const { asked } = await this.#stage.completes(what, this.body(more));
    const prompt = turnsOf(asked);
    if (!prompt.some((turn) => turn.includes(this.sentence))) {
      throw new Shortfall(`${what}: expected the file in the prompt, found none.`);
    }
    expectEqual(`${what}: how its prompt begins`, prompt.slice(0, this.#prompt.length), this.#prompt);
    if (this.#prompt.length > 0) this.#stage.counts.stableTurns += 1;
    this.#prompt = prompt;
  }

  /** A turn that is refused before there is a run: its sentence has this in it and nothing of a query. */
  async isRefused(what: string, refreshes: Refreshes | undefined, names: string): Promise<void> {
    const { files, provider } = this.#stage;
    const [requests, calls, runs] = [files.requests.length, provider.calls.length, await this.#runs()];
    const reader = await this.#stage.post(this.body(refreshes === undefined ? {} : { refreshes }));
    await within(`${what}: end of its answer`, WAIT_MS, reader.over);
    const admitted = reader.headers['x-agent-run-admitted'];
    expectEqual(`${what}: answer`, [reader.status, admitted], [400, 'false']);
    const told = JSON.parse(reader.text);
    expectEqual(`${what}: code`, told.code, 'invalid_attachment_refresh');
    if (!told.error.includes(names)) throw new Shortfall(`${what}: expected ${names}, found ${told.error}`);
    if (/X-Amz-/.test(reader.text)) throw new Shortfall(`${what}: expected no query, found ${told.error}`);
    expectNumber(`${what}: requests of files`, files.requests.length, requests);
    expectNumber(`${what}: calls of the model`, provider.calls.length, calls);
    expectEqual(`${what}: runs of the chat`, await this.#runs(), runs);
    this.#stage.counts.refused += 1;
  }

  /** Each has its user's message from its admission on. */
  async #runs(): Promise<readonly string[]> {
    const { body } = await this.#stage.api.get(`/v2/integrations/${this.integration}/chats/${this.chatId}/messages`);
    return body.items.map((message: { readonly runId: string }) => message.runId);
  }
}
