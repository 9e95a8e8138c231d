import { AsyncLocalStorage } from 'node:async_hooks';
import { Socket } from 'node:net';
import { errorText } from '@runwire/lib/error-text.ts';
import { AgencyCodeTable, type OpenAnswer } from './code-table.ts';
import { readFrames, sendFrame } from './frames.ts';
import type { Question, ReportedFault, SentError, ToProcess, ToServer, UsedBy } from './messages.ts';
import { toUsedBy } from './used-by.ts';

/** An unhandled error ended the process. */
const EXCEPTION_EXIT_CODE = 70;

/** Logs, the model and `/v2/agencies` get a fault's message. */
const MAX_FAULT_CHARACTERS = 2000;

class Answer implements OpenAnswer {
  readonly #controller = new AbortController();
  readonly #send: (message: ToServer) => void;
  readonly #id: number;
  #parts = 0;
  #onRoom: (() => void) | null = null;

  constructor(id: number, send: (message: ToServer) => void) {
    this.#id = id;
    this.#send = send;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  progress(text: string): void {
    this.#send({ id: this.#id, progress: text });
  }

  part(part: unknown): void {
    this.#parts -= 1;
    this.#send({ id: this.#id, part });
  }

  async room(): Promise<void> {
    while (this.#parts <= 0 && !this.signal.aborted) {
      await new Promise<void>((resolve) => {
        this.#onRoom = resolve;
      });
    }
    this.signal.throwIfAborted();
  }

  more(parts: number): void {
    this.#parts += parts;
    this.#onRoom?.();
  }

  abort(): void {
    this.#controller.abort();
    this.#onRoom?.();
  }
}

/** Answers the server's questions until it closes the channel. */
export function serveCode(descriptor: number): void {
  const channel = new Socket({ fd: descriptor, readable: true, writable: true });
  const send = (message: ToServer) => sendFrame(channel, message);
  const usedBy = new AsyncLocalStorage<UsedBy>();
  const table = new AgencyCodeTable((variable) => send({ withheld: variable }));
  const answers = new Map<number, Answer>();

  const answer = async (id: number, ask: Question): Promise<void> => {
    const open = new Answer(id, send);
    answers.set(id, open);
    try {
      const done = await usedBy.run(toUsedBy(ask), () => table.answer(ask, open));
      send({ id, done });
    } catch (error) {
      send({ id, failed: sentError(error) });
    } finally {
      answers.delete(id);
    }
  };

  const receive = (message: ToProcess): void => {
    if ('ask' in message) void answer(message.id, message.ask);
    else if ('more' in message) answers.get(message.id)?.more(message.more);
    else answers.get(message.id)?.abort();
  };
  readFrames(channel, (message) => receive(message as ToProcess), endGroup);
  // The server has ended.
  channel.on('close', endGroup);
  channel.on('error', endGroup);

  const report = (kind: ReportedFault['kind'], thrown: unknown) => {
    const message = errorText(thrown).slice(0, MAX_FAULT_CHARACTERS);
    send({ fault: { kind, message, stack: getStack(thrown), usedBy: usedBy.getStore() ?? null } });
  };
  // People's code may replace it.
  const exit = process.exit.bind(process);
  let isReported = false;
  process.on('unhandledRejection', (reason) => report('rejection', reason));
  process.on('uncaughtException', (error) => {
    isReported = true;
    report('exception', error);
    // Small messages are in the socket by now. Others get a moment.
    if (channel.writableLength === 0) exit(EXCEPTION_EXIT_CODE);
    channel.once('drain', () => exit(EXCEPTION_EXIT_CODE));
    setTimeout(() => exit(EXCEPTION_EXIT_CODE), 200);
  });
  process.on('exit', (code) => {
    if (!isReported) report('exit', `It ended itself with exit code ${code}; remove \`process.exit\`.`);
  });
}

/** Ends this process and everything that its tools started. */
function endGroup(): void {
  process.kill(process.platform === 'win32' ? process.pid : -process.pid, 'SIGKILL');
}

const MAX_MESSAGE_CHARACTERS = 100_000;
/** The fields of the AI SDK's errors that the adapter reads. */
const SENT_FIELDS = ['statusCode', 'responseBody', 'responseHeaders', 'isRetryable'] as const;

function sentError(thrown: unknown): SentError {
  const fields: Record<string, unknown> = {};
  try {
    for (const field of SENT_FIELDS) {
      const value = (thrown as Record<string, unknown> | null | undefined)?.[field];
      if (value !== undefined) fields[field] = structuredClone(value);
    }
  } catch {
    // A field that cannot be read or sent does not count.
  }
  return { message: errorText(thrown).slice(0, MAX_MESSAGE_CHARACTERS), fields };
}

function getStack(thrown: unknown): string {
  try {
    return thrown instanceof Error ? String(thrown.stack).slice(0, MAX_MESSAGE_CHARACTERS) : '';
  } catch {
    return '';
  }
}
