import { bracketedOutput } from '@runwire/lib/bracketed-images.ts';
import { promptBytes } from '@runwire/models';
import { cutBytes, evenLimit } from '../domain/model/shorten.ts';
import { BYTES_A_TOKEN, estimateTokens } from '../domain/model/usage.ts';
import type { PromptItem } from './ports.ts';

export const LEFT_OUT =
  'This output was left out, because the conversation became too long for the model. Call the tool again if you need it.';

/** Above this part of the window outputs are left out, until the prompt is below the second part. */
const FULL = 0.8;
const FITS = 0.6;
/** An output that would have fewer bytes is left out whole. */
const LEAST_BYTES = 600;

type Output = Extract<PromptItem, { kind: 'tool_output' }>;

/**
 * Keeps the prompt of a loop within its model's window: the oldest outputs of tools in the loop that the model has seen are left
 * out. If that is not enough, the outputs that it has not seen yet are shortened evenly. It decides by the prompt alone and is asked
 * before every model step, also before a step that the journal contains, so a node that takes the run over shows the same outputs. It
 * makes room for several steps, because each change of older items costs the provider's cache.
 */
export class RunWindow {
  #leftOut = 0;
  /** How many of the outputs the model has seen. */
  #seen = 0;
  /** The indexes at which the loop has added tool outputs to its prompt. */
  readonly #outputs: number[] = [];
  /** The outputs that are not shown as they are, by their indexes. */
  readonly #changed = new Map<number, Output>();
  #searched: number;
  /** The measured items' size, as they are shown. */
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
    const isAbove = (part: number) => estimateTokens(others + this.#bytes) > windowTokens * part;
    if (isAbove(FULL)) {
      while (isAbove(FITS) && this.#leftOut < this.#seen) this.#leaveOutOldest(prompt);
      if (isAbove(FULL)) this.#shortenUnseen(prompt, Math.floor(windowTokens * FITS) * BYTES_A_TOKEN - others);
    }
    this.#seen = this.#outputs.length;
    return this.#changed.size === 0 ? prompt : prompt.map((item, index) => this.#changed.get(index) ?? item);
  }

  #leaveOutOldest(prompt: readonly PromptItem[]): void {
    const index = this.#outputs[this.#leftOut] ?? 0;
    this.#leftOut += 1;
    const { kind, callId } = this.#at(prompt, index);
    const leftOut = { kind, callId, output: LEFT_OUT };
    if (this.#sizeAt(prompt, index) > getSize(leftOut)) this.#show(prompt, index, leftOut);
  }

  /** `mostBytes`: what all items together may have. */
  #shortenUnseen(prompt: readonly PromptItem[], mostBytes: number): void {
    for (;;) {
      const unseen = this.#outputs.slice(this.#leftOut);
      const sizes = unseen.map((index) => this.#sizeAt(prompt, index));
      const room = mostBytes - this.#bytes + sizes.reduce((sum, size) => sum + size, 0);
      const limit = evenLimit(sizes, room);
      if (limit >= LEAST_BYTES || unseen.length === 0) {
        for (const [position, index] of unseen.entries()) {
          if ((sizes[position] ?? 0) > limit) this.#show(prompt, index, shortenItem(this.#at(prompt, index), limit));
        }
        return;
      }
      this.#leaveOutOldest(prompt);
    }
  }

  #show(prompt: readonly PromptItem[], index: number, item: Output): void {
    this.#bytes += getSize(item) - this.#sizeAt(prompt, index);
    this.#changed.set(index, item);
  }

  #sizeAt = (prompt: readonly PromptItem[], index: number): number => getSize(this.#at(prompt, index));

  #at(prompt: readonly PromptItem[], index: number): Output {
    return this.#changed.get(index) ?? (prompt[index] as Output);
  }
}

const getSize = (item: Output): number => promptBytes('', [item]);

/** If its images leave no room for the text, the text names them. */
function shortenItem({ images, ...item }: Output, mostBytes: number): Output {
  const { output } = item;
  if (images === undefined) return { ...item, output: shorten(output, mostBytes) };
  const textBytes = mostBytes - getSize({ ...item, output: '', images });
  if (textBytes >= Math.min(LEAST_BYTES, Buffer.byteLength(output))) {
    return { ...item, output: shorten(output, textBytes), images };
  }
  return { ...item, output: shorten(bracketedOutput(output, images), mostBytes) };
}

function shorten(output: string, mostBytes: number): string {
  if (Buffer.byteLength(output) <= mostBytes) return output;
  const note = (characters: number) =>
    `\n[The output has ${output.length} characters. These are the first ${characters}, because the conversation became too long for the model.]`;
  const begin = cutBytes(output, mostBytes - Buffer.byteLength(note(output.length)));
  return begin + note(begin.length);
}
