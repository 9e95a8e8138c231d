import type { Question, Run, RunEvent, RunResult } from '@runwire/client';
import { EXIT, EXIT_OF_END } from './exit-codes.ts';
import { bytes, dim, note, shortened, visible, widthOf } from './output.ts';

/** Shows a run while it runs: its text on standard output, everything else on standard error. */
export class RunDisplay {
  readonly #run: Run;
  readonly #isQuiet: boolean;
  /** A pipe or a file gets the text at the end: text that a crash of the server made void could not be taken back. */
  readonly #isLive: boolean;
  #isLineOpen = false;

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
    } else if (!this.#isQuiet) {
      const text = eventText(event);
      if (text !== null) this.aside(text);
    }
  }

  /** Writes the text, or the end of its last line. */
  end({ text }: RunResult): void {
    if (!this.#isLive) this.#write(text);
    if (this.#isLineOpen) this.#write('\n');
  }

  /** Prints a line that is not part of the answer. */
  aside(text: string): void {
    if (this.#isLineOpen) this.#write('\n');
    note(dim(shortened(text, widthOf(process.stderr))));
  }

  #write(text: string): void {
    if (text === '') return;
    process.stdout.write(text);
    this.#isLineOpen = !text.endsWith('\n');
  }
}

/** One line for people. Null if the event is not worth a line. */
function eventText(event: RunEvent): string | null {
  switch (event.type) {
    case 'tool_call':
      return `· ${speaker(event)}${event.tool} ${JSON.stringify(event.arguments)}`;
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

/** The call of a question as one line. Its text is the model's. */
export const callText = ({ tool, arguments: input }: Pick<Question, 'tool' | 'arguments'>): string =>
  visible(`${tool} ${JSON.stringify(input)}`).replaceAll(/[\n\t]/g, ' ');

function questionText(question: Question): string {
  const call = callText(question);
  const { kind } = question;
  return kind === 'tool' ? `the caller must run ${call}` : `a person must approve ${call}`;
}

/** Explains an end that is not complete. Returns the exit code. */
export function explainEnd({ status, error, pending }: RunResult): number {
  if (status === 'failed') note(visible(`The run failed: ${error?.message} (${error?.code})`));
  if (status === 'cancelled') note('The run was cancelled.');
  if (pending.length === 0) return EXIT_OF_END[status];
  for (const question of pending) note(`The run waits: ${questionText(question)}.`);
  note('People approve calls in `runwire chat`; programs answer by the API (docs/questions.md).');
  return EXIT.incomplete;
}

/** One line about any event, for `runwire events`. */
export function eventLine(event: RunEvent): string {
  const text = eventText(event) ?? summaryOf(event);
  return `${String(event.id).padStart(5)}  ${event.type.padEnd(11)}  ${visible(text).replace(/^\s*[·→] /, '')}`;
}

function summaryOf(event: RunEvent): string {
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
