import { randomBytes } from 'node:crypto';
import {
  type ApiClient,
  FakeProvider,
  FileServer,
  type Protocol,
  type ProviderCall,
  providerEvents,
  type ServerProcess,
  type StreamReader,
  sseText,
} from '@runwire/test-kit';
import { DataFolder } from './data-folder.ts';
import { expectEqual, expectNumber, Shortfall, within } from './proof.ts';
import { startServer } from './start-server.ts';

type ServerOptions = Omit<Parameters<typeof startServer>[1], 'dataDir'>;
type Completion = Parameters<ApiClient['complete']>[0];
type Body = ProviderCall['body'];

export const WAIT_MS = 60_000;
const USAGE = { requestCount: 1, inputTokens: 40, cachedTokens: 0, outputTokens: 6, reasoningTokens: 0 };
export const ANSWER = 'Good day';

/** A turn that has ended. */
export interface Turn {
  readonly runId: string;
  readonly chatId: string;
  readonly usageRequestId: string;
  readonly reader: StreamReader;
  /** `data` of the frame `messages`. */
  // biome-ignore lint/suspicious/noExplicitAny: looked into as JSON.
  readonly ending: any;
  /** What the provider was asked; null: it was not. */
  readonly asked: Body | null;
}

/** The real server, a provider over HTTP, and a file server over TLS that the first may reach. */
export class AttachmentStage implements AsyncDisposable {
  readonly files: FileServer;
  readonly provider: FakeProvider;
  readonly server: ServerProcess;
  readonly protocol: Protocol;
  readonly #folder: DataFolder;
  /** Stands in the query of every URL, and must be seen by its file server alone. */
  readonly secret = `secret-${randomBytes(12).toString('hex')}`;
  /** Turns whose prompt began byte for byte as the last one, and requests that were refused as they should be. */
  readonly counts = { stableTurns: 0, refused: 0 };
  #requests = 0;

  private constructor(parts: {
    files: FileServer;
    provider: FakeProvider;
    server: ServerProcess;
    protocol: Protocol;
    folder: DataFolder;
  }) {
    this.files = parts.files;
    this.provider = parts.provider;
    this.server = parts.server;
    this.protocol = parts.protocol;
    this.#folder = parts.folder;
    this.answerAll();
  }

  static async start(fault: string | null, protocol: Protocol, options: ServerOptions = {}): Promise<AttachmentStage> {
    const folder = new DataFolder();
    const files = await FileServer.start();
    const provider = await FakeProvider.start();
    const env = {
      OPENAI_API_KEY: 'sk-planted-0123456789abcdef',
      OPENAI_BASE_URL: provider.baseUrl,
      RUNWIRE_MODEL: 'openai/some-model',
      RUNWIRE_OPENAI_API: protocol,
      RUNWIRE_LOG_LEVEL: 'debug',
      ...files.env,
      ...options.env,
    };
    const server = await startServer(fault, { ...options, dataDir: folder.path, env });
    const stage = new AttachmentStage({ files, provider, server, protocol, folder });
    await stage.integration('metered', { allowances: { unit: 'runs', limit: 1000, period: 'month' } });
    return stage;
  }

  get api(): ApiClient {
    return this.server.api;
  }

  get dataDir(): string {
    return this.#folder.path;
  }

  /** An integration with the member `ann`. */
  async integration(apiIntegrationId: string, fields: Readonly<Record<string, unknown>> = {}): Promise<void> {
    const { status } = await this.api.post('/v2/integrations', { apiIntegrationId, ...fields });
    expectNumber(`status of the integration ${apiIntegrationId}`, status, 201);
    await this.api.put(`/v2/integrations/${apiIntegrationId}/members/ann`, {});
  }

  /** The provider says its sentence to everybody at once. */
  answerAll(): void {
    this.provider.onCall = (call) => this.answer(call);
  }

  answer(call: ProviderCall): void {
    const said = [{ kind: 'text' as const, deltas: ['Good ', 'day'] }];
    void call.stream(sseText(providerEvents(this.protocol, { said, usage: USAGE })));
  }

  /** A URL of the file server with the secret in its query. */
  secretUrl(path: string): string {
    return `${this.files.url(path)}?token=${this.secret}`;
  }

  post(body: Completion): Promise<StreamReader> {
    this.#requests += 1;
    const usageRequestId = `request-${this.#requests}`;
    return this.api.complete({ apiIntegrationId: 'metered', consumerId: 'ann', usageRequestId, ...body });
  }

  /** Posts, reads to the end, and tells what the provider was asked. */
  async turn(what: string, body: Completion): Promise<Turn> {
    const before = this.provider.calls.length;
    const reader = await this.post(body);
    await within(`${what}: end of its stream`, WAIT_MS, reader.over);
    if (reader.status !== 200) throw new Shortfall(`${what}: expected a run, found ${reader.status} ${reader.text}.`);
    const of = (event: string) => JSON.parse(reader.frames.find((frame) => frame.event === event)?.data ?? '{}');
    const meta = of('meta');
    const asked = this.provider.calls.length === before ? null : (this.provider.calls.at(-1)?.body ?? null);
    return {
      runId: meta.run_id,
      chatId: meta.chatId,
      usageRequestId: meta.usageRequestId,
      reader,
      ending: of('messages'),
      asked,
    };
  }

  /** A turn that completes; resolves to what the provider was asked. */
  async completes(what: string, body: Completion): Promise<Turn & { readonly asked: Body }> {
    const turn = await this.turn(what, body);
    expectEqual(`${what}: end`, [turn.ending.status, turn.ending.error], ['completed', null]);
    return turn;
  }

  async charged(turn: Turn): Promise<unknown> {
    const query = `usageRequestId=${encodeURIComponent(turn.usageRequestId)}`;
    const { body } = await this.api.get(`/v2/integrations/metered/usage?${query}`);
    expectNumber(`usage records of ${turn.usageRequestId}`, body.items.length, 1);
    return body.items[0].charged;
  }

  /** The whole of a chat as it is listed. */
  async messages(chatId: string, integration = 'metered'): Promise<string> {
    const { body } = await this.api.get(`/v2/integrations/${integration}/chats/${chatId}/messages`);
    return JSON.stringify(body.items);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.server[Symbol.asyncDispose]();
    await this.provider[Symbol.asyncDispose]();
    await this.files[Symbol.asyncDispose]();
    this.#folder[Symbol.dispose]();
  }
}

type Part = Readonly<Record<string, unknown>>;

/** The turns of a request, as bytes of JSON: what a provider's cache goes by. */
export const turnsOf = (asked: Body): string[] =>
  (asked.input ?? asked.messages).map((item: unknown) => JSON.stringify(item));

/** What the provider was shown of the user's turns: their texts, and the bytes of what came as data URLs. */
export function shownTo(asked: Body): { readonly text: string; readonly files: readonly Shown[] } {
  const items: readonly { readonly role?: string; readonly content?: string | readonly Part[] }[] =
    asked.input ?? asked.messages;
  const parts = items.flatMap(({ role, content }) =>
    role !== 'user' ? [] : typeof content === 'string' ? [{ text: content }] : (content ?? []),
  );
  const urls = parts.map(dataUrlOf).filter((url) => url !== null);
  return { text: parts.map((part) => ('text' in part ? String(part.text) : '')).join('\n'), files: urls.map(shownIn) };
}

export interface Shown {
  readonly mediaType: string;
  readonly bytes: Buffer;
}

function dataUrlOf(part: Part): string | null {
  if (part.type === 'input_image') return String(part.image_url);
  if (part.type === 'input_file') return String(part.file_data);
  if (part.type === 'image_url') return String((part.image_url as Part).url);
  return null;
}

function shownIn(url: string): Shown {
  const [, mediaType = '', base64 = ''] = /^data:([^;]*);base64,(.*)$/.exec(url) ?? [];
  return { mediaType, bytes: Buffer.from(base64, 'base64') };
}
