import { promptBytes } from '@runwire/models';
import { estimateTokens } from '../domain/model/usage.ts';
import type { PromptItem } from './ports.ts';

export const LEFT_OUT =
  'This output was left out, because the conversation became too long for the model. Call the tool again if you need it.';

/** Above this part of the window outputs are left out, until the prompt is below the second part. */
const FULL = 0.8;
const FITS = 0.6;

/**
 * Keeps the prompt of a loop within its model's window: the oldest outputs of tools in the loop are left out. It
 * decides by the prompt alone and is asked before every model step, also before a step that the journal contains, so a node
 * that takes the run over leaves out the same outputs. It makes room for several steps, because each change of
 * older items costs the provider's cache.
 */
export class RunWindow {
  #leftOut = 0;
  /** The indexes at which the loop has added tool outputs to its prompt. */
  readonly #outputs: number[] = [];
  #searched: number;
  /** The measured items' size, without what is left out. */
  #bytes = 0;
  #measured = 0;

  /** `firstItem` is the index of the first item that the loop itself adds to its prompt. */
  constructor(firstItem: number) {
    this.#searched = firstItem;
  }

  /** Each prompt begins with the earlier one's items. Only new items are read: a long run has many steps. */
  fit(prompt: readonly PromptItem[], instructions: string, windowTokens: number): readonly PromptItem[] {
    for (; this.#searched < prompt.length; this.#searched += 1) {
      if (prompt[this.#searched]?.kind === 'tool_output') this.#outputs.push(this.#searched);
    }
    if (this.#outputs.length === 0) return prompt;
    this.#bytes += promptBytes('', prompt.slice(this.#measured));
    this.#measured = prompt.length;
    const others = Buffer.byteLength(instructions);
    if (estimateTokens(others + this.#bytes) > windowTokens * FULL) {
      while (estimateTokens(others + this.#bytes) > windowTokens * FITS && this.#leftOut < this.#outputs.length) {
        const item = prompt[this.#outputs[this.#leftOut] ?? 0];
        if (isLonger(item)) this.#bytes -= promptBytes('', [item]) - Buffer.byteLength(LEFT_OUT);
        this.#leftOut += 1;
      }
    }
    return this.#leftOut === 0 ? prompt : this.#withoutOldest(prompt);
  }

  #withoutOldest(prompt: readonly PromptItem[]): readonly PromptItem[] {
    const shown = [...prompt];
    for (const index of this.#outputs.slice(0, this.#leftOut)) {
      const item = shown[index];
      if (isLonger(item)) shown[index] = { kind: item.kind, callId: item.callId, output: LEFT_OUT };
    }
    return shown;
  }
}

/** True if the item becomes shorter if its output is left out. */
const isLonger = (item: PromptItem | undefined): item is Extract<PromptItem, { kind: 'tool_output' }> =>
  item?.kind === 'tool_output' && (item.images !== undefined || item.output.length > LEFT_OUT.length);
