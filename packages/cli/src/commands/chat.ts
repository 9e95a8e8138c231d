import { createInterface, type Interface } from 'node:readline/promises';
import type { Question, Run, Runwire } from '@runwire/client';
import type { CliCommand, Context } from '../command.ts';
import { connectToIntegration, reach } from '../connection.ts';
import { report } from '../exit-codes.ts';
import { leave, onInterrupt } from '../interrupts.ts';
import { dim, jsonLine, note, print } from '../output.ts';
import { addRequestOptions, type RequestOptions, requestOf } from '../request-options.ts';
import { callText, explainEnd, RunDisplay } from '../run-display.ts';

export function addChatCommand(program: CliCommand, { env }: Context): void {
  addRequestOptions(program.command('chat'))
    .explain({
      summary: 'talk to an agent in the terminal',
      details: [
        'Each line is a message. Tools are shown while they run, and calls that need an approval are asked for.',
        'Ctrl-C cancels the run; a second Ctrl-C leaves. Ctrl-D leaves.',
        'Lines of a pipe are messages too.',
      ],
      examples: [
        'runwire chat',
        'runwire chat --chat trip --member user-42',
        "printf 'Hello\\nAnd now?\\n' | runwire chat",
      ],
    })
    .printsJson('print how each run ended as one line of JSON')
    .asksIntegration()
    .action(async (options: RequestOptions) => {
      const client = await connectToIntegration(env, options);
      await reach(client);
      await new Conversation(client, options).hold();
    });
}

/** Reads messages and shows their runs, one after the other, in one chat. */
class Conversation {
  readonly #client: Runwire;
  readonly #options: RequestOptions;
  readonly #lines: Interface;
  #chatId: string | undefined;
  #current: Run | null = null;
  #interrupted = new AbortController();

  constructor(client: Runwire, options: RequestOptions) {
    this.#client = client;
    this.#options = options;
    this.#chatId = options.chat;
    const isTerminal = process.stdin.isTTY && process.stderr.isTTY;
    // The prompt is not part of the result.
    this.#lines = createInterface({ input: process.stdin, output: process.stderr, terminal: isTerminal, prompt: '> ' });
  }

  async hold(): Promise<void> {
    // A terminal in raw mode sends Ctrl-C as a character, which only readline sees.
    this.#lines.on('SIGINT', () => this.#interrupt());
    using _ = onInterrupt(() => this.#interrupt());
    this.#prompt();
    for await (const line of this.#lines) {
      if (line.trim() !== '') await this.#say(line);
      this.#prompt();
    }
    if (this.#chatId !== undefined && this.#lines.terminal) {
      note(dim(`\nContinue with: runwire chat --chat ${this.#chatId}`));
    }
  }

  #prompt(): void {
    if (this.#lines.terminal) this.#lines.prompt();
  }

  #interrupt(): void {
    if (this.#current === null || this.#interrupted.signal.aborted) leave();
    note(dim('\nCancelling the run; press Ctrl-C again to leave.'));
    // If the run cannot be cancelled any more, it ends by itself.
    this.#current?.cancel().catch(() => {});
    this.#interrupted.abort();
  }

  async #say(message: string): Promise<void> {
    const chat = this.#chatId === undefined ? {} : { chatId: this.#chatId };
    const run = this.#client.run(
      { ...requestOf(this.#options), ...chat, message },
      // The lines of a pipe are messages, not answers.
      this.#lines.terminal ? { onApproval: (question) => this.#approve(question) } : {},
    );
    this.#current = run;
    try {
      await this.#show(run);
    } catch (error) {
      report(error, this.#options.json === true);
    } finally {
      this.#current = null;
      this.#interrupted = new AbortController();
    }
  }

  async #show(run: Run): Promise<void> {
    const { json } = this.#options;
    const display = new RunDisplay(run, { isQuiet: json === true, isLive: !json && process.stdout.isTTY });
    for await (const event of run) display.show(event);
    const result = await run.result();
    this.#chatId = result.chatId;
    if (json) print(jsonLine(result));
    else display.end(result);
    process.exitCode = explainEnd(result);
  }

  /** Asks the person. The end of the input and Ctrl-C decline. */
  async #approve(question: Question): Promise<boolean> {
    const ask = this.#lines.question(`Approve ${callText(question)}? [y/N] `, { signal: this.#interrupted.signal });
    const answer = await ask.catch(() => '');
    return /^y(es)?$/i.test(answer.trim());
  }
}
