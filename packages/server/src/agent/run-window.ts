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
  readonly #firstItem: number;
  #leftOut = 0;

  /** `firstItem` is the index of the first item that the loop itself adds to its prompt. */
  constructor(firstItem: number) {
    this.#firstItem = firstItem;
  }

  fit(prompt: readonly PromptItem[], instructions: string, windowTokens: number): readonly PromptItem[] {
    const outputs: number[] = [];
    for (let index = this.#firstItem; index < prompt.length; index += 1) {
      if (prompt[index]?.kind === 'tool_output') outputs.push(index);
    }
    if (outputs.length === 0) return prompt;
    let tokens = estimateTokens(promptBytes(instructions, this.#without(prompt, outputs)));
    if (tokens > windowTokens * FULL) {
      while (tokens > windowTokens * FITS && this.#leftOut < outputs.length) {
        this.#leftOut += 1;
        tokens = estimateTokens(promptBytes(instructions, this.#without(prompt, outputs)));
      }
    }
    return this.#without(prompt, outputs);
  }

  #without(prompt: readonly PromptItem[], outputs: readonly number[]): readonly PromptItem[] {
    if (this.#leftOut === 0) return prompt;
    const shown = [...prompt];
    for (const index of outputs.slice(0, this.#leftOut)) {
      const item = shown[index];
      if (item?.kind === 'tool_output' && item.output.length > LEFT_OUT.length)
        shown[index] = { ...item, output: LEFT_OUT };
    }
    return shown;
  }
}
