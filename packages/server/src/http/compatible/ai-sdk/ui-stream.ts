import type { Usage } from '../../../domain/model/usage.ts';
import type { RunEvent } from '../../../domain/run/events.ts';
import { EventEncoder, SSE_HEADERS } from '../event-encoder.ts';
import { type Chunk, UiAnswer } from './ui-answer.ts';

export interface UiStreamOptions {
  /** Null for the id that belongs to the run. */
  readonly messageId: string | null;
  readonly fileUrl: (path: string) => string;
}

const HEADERS = { ...SSE_HEADERS, 'x-vercel-ai-ui-message-stream': 'v1' };

export const toMessageId = (runId: string): string => `msg_${runId.slice('run_'.length)}`;

/** Returns null if this API did not name the message. */
export const toRunId = (messageId: string): string | null =>
  /^msg_[0-9a-z]{20,}$/.test(messageId) ? `run_${messageId.slice('msg_'.length)}` : null;

/** The UI message stream of the AI SDK: one assistant message. */
export class UiStream extends EventEncoder {
  override readonly headers = HEADERS;
  readonly #messageId: string | null;
  readonly #answer: UiAnswer;
  #frames = '';

  constructor({ messageId, fileUrl }: UiStreamOptions) {
    super();
    this.#messageId = messageId;
    this.#answer = new UiAnswer(this.#write, fileUrl);
  }

  /** Reads the events of the runs that the run continues, before its own. */
  get earlier(): Pick<UiAnswer, 'read' | 'settle'> {
    return this.#answer;
  }

  /** Called if the reader has what the earlier runs made. */
  forgetEarlier(): void {
    this.#frames = '';
  }

  #write = (chunk: Chunk): void => {
    this.#frames += `data: ${JSON.stringify(chunk)}\n\n`;
  };

  protected override encode(event: RunEvent): string {
    // Parts that earlier runs made follow the start.
    const earlier = this.#frames;
    this.#frames = '';
    if (event.type === 'meta') {
      const { runId, chatId, agent } = event.meta;
      const messageId = this.#messageId ?? toMessageId(runId);
      this.#write({ type: 'start', messageId, messageMetadata: { runId, chatId, agent } });
      this.#frames += earlier;
    }
    this.#answer.read(event);
    if (event.type === 'messages') this.#finish(event);
    if (event.type === 'end') this.#frames += 'data: [DONE]\n\n';
    const frames = this.#frames;
    this.#frames = '';
    return frames;
  }

  #finish({ status, error, usage, pending = [], output }: Extract<RunEvent, { type: 'messages' }>): void {
    const structured = output === undefined || output === null ? {} : { output };
    const about = { status, usage: usageForUi(usage), ...structured };
    if (status === 'failed') {
      const message = error?.message ?? 'The run failed.';
      // A client reads nothing after an error.
      this.#write({ type: 'message-metadata', messageMetadata: { ...about, error } });
      this.#write({ type: 'error', errorText: message });
      this.#write({ type: 'finish', finishReason: 'error', messageMetadata: { ...about, error } });
      return;
    }
    if (status === 'cancelled') this.#write({ type: 'abort', reason: 'cancelled' });
    const reason = status === 'cancelled' ? 'interrupted' : pending.length > 0 ? 'tool-calls' : 'stop';
    this.#write({ type: 'finish', finishReason: reason, messageMetadata: about });
  }
}

/** In the names of the AI SDK. */
const usageForUi = (usage: Usage) => ({
  requestCount: usage.requestCount,
  inputTokens: usage.inputTokens,
  cachedInputTokens: usage.cachedTokens,
  outputTokens: usage.outputTokens,
  reasoningTokens: usage.reasoningTokens,
  totalTokens: usage.inputTokens + usage.outputTokens,
});
