import {
  type ApiClient,
  FakeProvider,
  FileServer,
  type Protocol,
  type ProviderCall,
  providerEvents,
  Rig,
  type RigOptions,
  type ServerProcess,
  type StreamReader,
  sseText,
} from '@runwire/test-kit';
import { SECRET } from '@runwire/test-kit/attachment-samples.ts';
import { expectEqual, WAIT_MS, within } from '@runwire/test-kit/shortfall.ts';

type Completion = Parameters<ApiClient['complete']>[0];
type Body = ProviderCall['body'];

const USAGE = { requestCount: 1, inputTokens: 40, cachedTokens: 0, outputTokens: 6, reasoningTokens: 0 };
export const ANSWER = 'Good day';
/** A turn that has ended. */
export interface Turn {
  readonly runId: string;
  readonly chatId: string;
  readonly reader: StreamReader;
  /** The data of the frame `messages`. */
  readonly ending: Body;
  /** What the provider was asked; null if it was not asked. */
  readonly asked: Body;
}

/** The real server, a provider over HTTP, and a file server over TLS that the server may reach. */
export class AttachmentStage implements AsyncDisposable {
  readonly files: FileServer;
  readonly provider: FakeProvider;
  readonly rig: Rig;
  readonly protocol: Protocol;
  #requests = 0;

  private constructor(parts: Pick<AttachmentStage, 'files' | 'provider' | 'rig' | 'protocol'>) {
    ({ files: this.files, provider: this.provider, rig: this.rig, protocol: this.protocol } = parts);
    this.answerAll();
  }

  static async start(fault: string | null, protocol: Protocol, options: RigOptions = {}): Promise<AttachmentStage> {
    const files = await FileServer.start();
    const provider = await FakeProvider.start();
    const env = { ...provider.env(protocol), RUNWIRE_LOG_LEVEL: 'debug', ...files.env, ...options.env };
    const rig = await Rig.start({ ...options, fault, env, scripted: false });
    const allowances = { unit: 'runs', limit: 1000, period: 'month' };
    await rig.prepare({ apiIntegrationId: 'metered', allowances }, 'ann');
    return new AttachmentStage({ files, provider, rig, protocol });
  }

  get server(): ServerProcess {
    return this.rig.server();
  }
  get api(): ApiClient {
    return this.rig.api();
  }

  /** The provider answers every call immediately. */
  answerAll(): void {
    this.provider.onCall = (call) => this.answer(call);
  }

  answer(call: ProviderCall): void {
    const parts = [{ kind: 'text' as const, deltas: ['Good ', 'day'] }];
    void call.stream(sseText(providerEvents(this.protocol, { parts, usage: USAGE })));
  }

  secretUrl(path: string): string {
    return `${this.files.url(path)}?token=${SECRET}`;
  }

  post(body: Completion): Promise<StreamReader> {
    this.#requests += 1;
    const usageRequestId = `request-${this.#requests}`;
    return this.api.complete({ apiIntegrationId: 'metered', consumerId: 'ann', usageRequestId, ...body });
  }

  /** Posts and reads to the end. */
  async turn(what: string, body: Completion): Promise<Turn> {
    const before = this.provider.calls.length;
    const reader = await this.post(body);
    await within(`${what}: end of its stream`, WAIT_MS, reader.over);
    expectEqual(`${what}: status`, reader.status, 200);
    const of = (event: string) => JSON.parse(reader.frames.find((frame) => frame.event === event)?.data ?? '{}');
    const { run_id: runId, chatId } = of('meta');
    const asked = this.provider.calls.length === before ? null : this.provider.calls.at(-1)?.body;
    return { runId, chatId, reader, ending: of('messages'), asked };
  }

  async completes(what: string, body: Completion): Promise<Turn> {
    const turn = await this.turn(what, body);
    expectEqual(`${what}: end`, [turn.ending.status, turn.ending.error], ['completed', null]);
    return turn;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.rig[Symbol.asyncDispose]();
    await this.provider[Symbol.asyncDispose]();
    await this.files[Symbol.asyncDispose]();
  }
}

/** The text that the provider was shown of the user's turns, and the files that it was sent as data URLs. */
export function shownTo(asked: Body) {
  const turns: Body[] = (asked.input ?? asked.messages).filter(({ role }: Body) => role === 'user');
  const parts = turns.flatMap(({ content }) => (typeof content === 'string' ? [{ text: content }] : (content ?? [])));
  const urls = parts.map((part) => part.file_data ?? part.image_url?.url ?? part.image_url).filter(Boolean);
  const files = urls.map((url: string): [mediaType: string, bytes: Buffer] => {
    const [, mediaType = '', base64 = ''] = /^data:([^;]*);base64,(.*)$/.exec(url) ?? [];
    return [mediaType, Buffer.from(base64, 'base64')];
  });
  return { text: parts.map(({ text }) => text ?? '').join('\n'), files };
}
