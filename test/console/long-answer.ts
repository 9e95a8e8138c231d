import { setTimeout as sleep } from 'node:timers/promises';
import type { ModelCall } from '@runwire/test-kit';

/** A word of the answer with its number: nothing else in the page has this form. */
const WORD = /w\d{5}/g;
const WORDS_PER_STEP = 500;
const TOOL = 'find_order';
/** How many words belong together. Then another form of Markdown begins. */
const WORDS_PER_FORM = 60;
const WORDS_PER_LINE = 12;
const LOOK_MS = 20;

const getWord = (number: number) => `w${String(number).padStart(5, '0')}`;

/** A text's numbered words, in order. */
export const wordsIn = (text: string): readonly string[] => text.match(WORD) ?? [];

/** Each line's start, by turns: paragraphs, lists, quotations, tables and code. */
const FORMS: readonly ((line: string, index: number) => string)[] = [
  (line) => `${line}\n`,
  (line) => `- ${line}\n`,
  (line, index) => `${index === 0 ? '## ' : ''}${line}\n`,
  (line) => `> **${line}**\n`,
  (line, index) =>
    `${index === 0 ? '```text\n' : ''}${line}\n${index === WORDS_PER_FORM / WORDS_PER_LINE - 1 ? '```\n' : ''}`,
  (line, index) => (index === 0 ? `| ${line} |\n|---|\n` : `| ${line} |\n`),
];

/** A long answer in steps. Each step but the last ends with a call of a tool. */
export class LongAnswer {
  readonly words: readonly string[];
  readonly steps: number;
  /** How many words were written, in all attempts. */
  written = 0;
  /** The answer waits after this word. */
  lastWord = Number.POSITIVE_INFINITY;
  readonly #wordsPerSecond: number;
  #gate: { readonly tokens: number; readonly opened: Promise<void> } | null = null;

  constructor(words: number, wordsPerSecond: number) {
    this.words = Array.from({ length: words }, (_, index) => getWord(index + 1));
    this.steps = Math.ceil(words / WORDS_PER_STEP);
    this.#wordsPerSecond = wordsPerSecond;
  }

  /** Steps that begin from now on stop after so many tokens, until the returned function is called. */
  hold(tokens: number): () => void {
    const { promise: opened, resolve } = Promise.withResolvers<void>();
    this.#gate = { tokens, opened };
    return () => {
      this.#gate = null;
      resolve();
    };
  }

  /** Writes a step. A step that is repeated after a crash has the same text. */
  async play(call: ModelCall): Promise<void> {
    const { prompt, runId } = call.request;
    const step = 1 + prompt.filter(({ kind }) => kind === 'tool_output').length;
    const words = this.words.slice((step - 1) * WORDS_PER_STEP, step * WORDS_PER_STEP);
    const startedAt = performance.now();
    const gate = this.#gate;
    let count = 0;
    let word = (step - 1) * WORDS_PER_STEP;
    for (const token of getTokens(words)) {
      word += wordsIn(token).length;
      while (word > this.lastWord && !call.isClosed) await sleep(LOOK_MS);
      if (call.isClosed) return;
      await call.text(token);
      count += 1;
      this.written += 1;
      if (count === gate?.tokens) await gate.opened;
      const aheadMs = (1000 * count) / this.#wordsPerSecond - (performance.now() - startedAt);
      if (aheadMs > 0) await sleep(aheadMs);
      if (call.isClosed) return;
    }
    if (step < this.steps) await call.toolCall(`call_${runId}_${step}`, TOOL, '{"order":"A-1"}');
    await call.end();
  }
}

/** Each token has at most one word. */
function* getTokens(words: readonly string[]): Generator<string> {
  for (let start = 0; start < words.length; start += WORDS_PER_LINE) {
    const form = FORMS[Math.floor(start / WORDS_PER_FORM) % FORMS.length] ?? String;
    const line = words.slice(start, start + WORDS_PER_LINE).join(' ');
    const isLastOfForm = (start + WORDS_PER_LINE) % WORDS_PER_FORM === 0;
    const text = form(line, (start % WORDS_PER_FORM) / WORDS_PER_LINE) + (isLastOfForm ? '\n' : '');
    yield* text.split(/(?<=w\d{5})/);
  }
}
