import { createInterface, type Interface } from 'node:readline/promises';
import type { Question, Run, RunRequest, Runwire } from '@runwire/client';
import type { Command } from 'commander';
import { EXIT, report } from './exit-codes.ts';
import { leave, onInterrupt } from './interrupts.ts';
import { dim, jsonLine, note, print } from './output.ts';
import { askPerson } from './questions.ts';
import { explainEnd, questionText, RunDisplay } from './run-display.ts';

export interface ConversationOptions {
  /** Every request's fields. */
  readonly request: Omit<RunRequest, 'message'>;
  readonly chatId?: string | undefined;
  readonly json?: true | undefined;
  /** The command that holds the conversation: errors use its words. */
  readonly command: Command;
}

/** True if a person can be asked. A pipe's lines are messages, not answers. */
export const isInteractive = (): boolean => process.stdin.isTTY === true && process.stderr.isTTY === true;

/** Reads messages and shows their runs, one after the other, in one chat. */
export class Conversation implements Disposable {
  readonly #client: Runwire;
  readonly #options: ConversationOptions;
  readonly #lines: Interface;
  readonly #interrupts: Disposable;
  #chatId: string | undefined;
  #current: Run | null = null;
  #isAsking = false;
  #interrupted = new AbortController();

  constructor(client: Runwire, options: ConversationOptions) {
    this.#client = client;
    this.#options = options;
    this.#chatId = options.chatId;
    // The prompt is not part of the result.
    const streams = { input: process.stdin, output: process.stderr };
    this.#lines = createInterface({ ...streams, terminal: isInteractive(), prompt: '> ' });
    // A terminal in raw mode sends Ctrl-C as a character, which only readline sees.
    this.#lines.on('SIGINT', () => this.#interrupt());
    this.#interrupts = onInterrupt(() => this.#interrupt());
  }

  /** Settles the chat's open questions, then sends each line as a message. */
  async hold(open: readonly Question[]): Promise<void> {
    // Created first: it keeps the lines that arrive while questions are asked.
    const lines = this.#lines[Symbol.asyncIterator]();
    if (this.#lines.terminal) await this.settle(open);
    else for (const question of open) note(`The chat waits: ${questionText(question)}. The first message declines it.`);
    this.#prompt();
    for await (const line of lines) {
      if (line.trim() !== '') await this.settle(await this.#send({ message: line }));
      this.#prompt();
    }
    if (this.#chatId !== undefined && this.#lines.terminal) {
      note(dim(`\nContinue with: runwire chat --chat ${this.#chatId}`));
    }
  }

  /** Asks the person the open questions and sends the answers, until no question is open. Asks nothing of a pipe. */
  async settle(open: readonly Question[]): Promise<void> {
    let pending = this.#lines.terminal ? open : [];
    while (pending.length > 0) {
      this.#isAsking = true;
      const answers = await askPerson(this.#lines, pending, this.#interrupted.signal);
      this.#isAsking = false;
      this.#interrupted = new AbortController();
      if (answers === null) {
        note(dim('\nThe questions stay open; the next message in the chat declines them.'));
        process.exitCode = EXIT.incomplete;
        return;
      }
      pending = await this.#send({ message: '', answers });
    }
  }

  #prompt(): void {
    if (this.#lines.terminal) this.#lines.prompt();
  }

  #interrupt(): void {
    if (!this.#isAsking) {
      if (this.#current === null || this.#interrupted.signal.aborted) leave();
      note(dim('\nCancelling the run; press Ctrl-C again to leave.'));
      // If the run cannot be cancelled any more, it ends by itself.
      this.#current?.cancel().catch(() => {});
    }
    this.#interrupted.abort();
  }

  /** Sends a request of the chat, and shows its run. Resolves to the questions with which it ended. */
  async #send(fields: RunRequest): Promise<readonly Question[]> {
    const { agent: _agent, sandboxFiles: _files, ...rest } = this.#options.request;
    // After an answer the agent that asked continues, with its message's files.
    const common = fields.answers === undefined ? this.#options.request : rest;
    const run = this.#client.run({ ...common, chatId: this.#chatId ?? common.chatId, ...fields });
    this.#current = run;
    try {
      return await this.#show(run);
    } catch (error) {
      report(error, this.#options.json === true, this.#options.command);
      return [];
    } finally {
      this.#current = null;
      this.#interrupted = new AbortController();
    }
  }

  async #show(run: Run): Promise<readonly Question[]> {
    const { json, command } = this.#options;
    const display = new RunDisplay(run, { isQuiet: json === true, isLive: !json && process.stdout.isTTY });
    for await (const event of run) display.show(event);
    const result = await run.result();
    this.#chatId = result.chatId;
    if (json) print(jsonLine(result));
    else display.end(result);
    // A person is asked now.
    process.exitCode = explainEnd(this.#lines.terminal ? { ...result, pending: [] } : result, command);
    return result.pending;
  }

  [Symbol.dispose](): void {
    this.#interrupts[Symbol.dispose]();
    this.#lines.close();
  }
}
