import type { Question, Run, RunEvent, RunResult } from '@runwire/client';
import type { Command } from 'commander';
import { EXIT, EXIT_OF_END } from './exit-codes.ts';
import { bytes, dim, measureWidth, note, shortened, visible } from './output.ts';
import { inCommandWords } from './refusal-words.ts';

/** Shows a run while it runs: its text on standard output, everything else on standard error. */
export class RunDisplay {
  readonly #run: Run;
  readonly #isQuiet: boolean;
  /** A pipe or a file gets the text at the end: text that a crash of the server made void could not be taken back. */
  readonly #isLive: boolean;
  #isLineOpen = false;
  /** True if the last line of the terminal is progress, which the next line replaces. */
  #isProgressShown = false;

  constructor(run: Run, options: { readonly isQuiet: boolean; readonly isLive: boolean }) {
    this.#run = run;
    this.#isQuiet = options.isQuiet;
    this.#isLive = options.isLive;
  }

  show(event: RunEvent): void {
    if (event.type === 'text') {
      if (this.#isLive) this.#write(visible(event.delta));
    } else if (event.type === 'resumed') {
      this.aside('The server resumed the run; the answer so far is:');
      if (this.#isLive) this.#write(visible(this.#run.currentText));
    } else if (event.type === 'tool_progress') {
      this.#showProgress(event);
    } else if (!this.#isQuiet) {
      const text = eventText(event);
      if (text !== null) this.aside(text);
    }
  }

  /** Writes the text, or its last line's end. */
  end({ text }: RunResult): void {
    if (!this.#isLive) this.#write(text);
    if (this.#isLineOpen) this.#write('\n');
  }

  /** Prints a line that is not part of the answer. */
  aside(text: string): void {
    this.#clearProgress();
    if (this.#isLineOpen) this.#write('\n');
    note(dim(shortened(text, measureWidth(process.stderr))));
  }

  /** Only a terminal can replace a line; a log would get ten lines per second. */
  #showProgress(event: RunEvent): void {
    if (this.#isQuiet || !process.stderr.isTTY) return;
    this.aside(eventText(event) ?? '');
    this.#isProgressShown = true;
  }

  #clearProgress(): void {
    if (this.#isProgressShown) process.stderr.write('\u001b[1A\u001b[K');
    this.#isProgressShown = false;
  }

  #write(text: string): void {
    if (text === '') return;
    this.#clearProgress();
    process.stdout.write(text);
    this.#isLineOpen = !text.endsWith('\n');
  }
}

/** One line for people. Null if the event is not worth a line. */
function eventText(event: RunEvent): string | null {
  switch (event.type) {
    case 'tool_call':
      return `· ${speaker(event)}${event.tool} ${JSON.stringify(event.arguments)}`;
    case 'tool_progress':
      return `  … ${event.text}`;
    case 'tool_output':
      return `  → ${event.failed ? 'failed: ' : ''}${event.output}`;
    case 'agent':
      return `· ${event.agent} continues`;
    case 'file':
      return `· ${event.file.change} ${event.file.path} (${bytes(event.file.size)})`;
    case 'started':
      return event.ignoredFields.length === 0 ? null : `· ignored fields: ${event.ignoredFields.join(', ')}`;
    default:
      return null;
  }
}

/** Names the agent if another agent asked it. */
const speaker = ({ agent, callerAgent }: { readonly agent: string; readonly callerAgent: string | null }) =>
  callerAgent === null ? '' : `${agent}: `;

/** A question's call as one line. Its text is the model's. */
export const callText = ({ tool, arguments: input }: Pick<Question, 'tool' | 'arguments'>): string =>
  visible(`${tool} ${JSON.stringify(input)}`).replaceAll(/[\n\t]/g, ' ');

/** What the run waits for, as a part of a sentence. */
export function questionText(question: Question): string {
  const call = callText(question);
  const { kind } = question;
  return kind === 'tool' ? `the caller must run ${call}` : `a person must approve ${call}`;
}

/** Explains an end that is not complete. Returns the exit code. */
export function explainEnd({ status, error, pending, chatId }: RunResult, command: Command): number {
  if (status === 'failed' && error !== null) {
    note(visible(`The run failed: ${inCommandWords(error, command)} (${error.code})`));
  }
  if (status === 'cancelled') note('The run was cancelled.');
  if (pending.length === 0) return EXIT_OF_END[status];
  for (const question of pending) note(`The run waits: ${questionText(question)}.`);
  const { integration, url } = command.opts<{ integration?: string; url?: string }>();
  // Without them the pasted command could ask another integration, or another server.
  const named = `${integration === undefined ? '' : ` -i ${integration}`}${url === undefined ? '' : ` --url ${url}`}`;
  note(visible(`Answer with: runwire answer ${chatId}${named}`));
  return EXIT.incomplete;
}

/** One line about any event, for `runwire events`. */
export function eventLine(event: RunEvent): string {
  const text = eventText(event) ?? toSummary(event);
  return `${String(event.id).padStart(5)}  ${event.type.padEnd(11)}  ${visible(text).replace(/^\s*[·→] /, '')}`;
}

function toSummary(event: RunEvent): string {
  switch (event.type) {
    case 'started':
      return `${event.agent}, chat ${event.chatId}`;
    case 'text':
    case 'reasoning':
      return JSON.stringify(event.delta);
    case 'question':
      return questionText(event.question);
    case 'resumed':
      return `attempt ${event.attempt}; events after ${event.discardAfter} are void`;
    case 'error':
      return `${event.message} (${event.code})`;
    case 'ended':
      return `${event.status}, ${event.usage.total_tokens} tokens`;
    default:
      return '';
  }
}
