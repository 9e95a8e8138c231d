import { addModelUsage, type ModelUsage, type Usage } from '../../../domain/model/usage.ts';

/** Usage as AG-UI lists it: one entry per model. */
interface UsageEntry {
  readonly model?: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly totalTokens: number;
  readonly reasoningTokens: number;
  readonly cachedInputTokens: number;
}

/** The usage of a run by model, from the answers that its reader has seen. */
export class AgUiUsage {
  #answers: { readonly eventId: number; readonly model: string; readonly usage: Usage }[] = [];

  add(eventId: number, model: string, usage: Usage): void {
    this.#answers.push({ eventId, model, usage });
  }

  /** Later answers became void. */
  discardAfter(eventId: number): void {
    this.#answers = this.#answers.filter((answer) => answer.eventId <= eventId);
  }

  /** What the run used besides, such as an answer that a crash cut, is an entry without a model. */
  entries(total: Usage): UsageEntry[] {
    let models: ModelUsage[] = [];
    let rest = total;
    for (const { model, usage } of this.#answers) {
      models = addModelUsage(models, model, usage);
      rest = subtract(rest, usage);
    }
    const entries = models.map((usage) => ({ model: usage.model, ...toEntry(usage) }));
    return rest.inputTokens > 0 || rest.outputTokens > 0 ? [...entries, toEntry(rest)] : entries;
  }
}

function toEntry({ inputTokens, outputTokens, reasoningTokens, cachedTokens }: Usage): UsageEntry {
  const totalTokens = inputTokens + outputTokens;
  return { inputTokens, outputTokens, totalTokens, reasoningTokens, cachedInputTokens: cachedTokens };
}

const subtract = (from: Usage, usage: Usage): Usage => ({
  requestCount: Math.max(0, from.requestCount - usage.requestCount),
  inputTokens: Math.max(0, from.inputTokens - usage.inputTokens),
  cachedTokens: Math.max(0, from.cachedTokens - usage.cachedTokens),
  outputTokens: Math.max(0, from.outputTokens - usage.outputTokens),
  reasoningTokens: Math.max(0, from.reasoningTokens - usage.reasoningTokens),
});
