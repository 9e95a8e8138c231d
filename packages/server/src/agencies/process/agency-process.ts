import { type ChildProcess, spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { readFrames, sendFrame } from './frames.ts';
import type { Pong, Question, ReportedFault, SentError, ToProcess, ToServer, UsedBy } from './messages.ts';
import type { ProcessGuard } from './process-guard.ts';
import { toUsedBy } from './used-by.ts';

/** How often a process is asked whether its event loop still turns. */
const TICK_MS = 1000;
/** A process without work is asked less often. */
const IDLE_TICKS = 5;
/** Code, stacks and what the allocator keeps. The limit of memory counts heap and buffers. */
const OTHER_MEMORY_BYTES = 256 * 1024 * 1024;
const PAGE_BYTES = 4096;
/** How long the last messages of a process that has ended may take. */
const LAST_MESSAGES_MS = 500;

/** Why a process ended. */
export interface ProcessFault {
  readonly kind: 'exception' | 'exit' | 'memory' | 'silent' | 'replaced';
  readonly message: string;
  /** Null if it is not known which call ended the process. */
  readonly usedBy: UsedBy | null;
  /** In milliseconds since 1970. */
  readonly at: number;
}

/** The process ended before it answered. What it was asked for may or may not have taken effect. */
export class ProcessEnded extends Error {
  override readonly name = 'ProcessEnded';
  readonly fault: ProcessFault;

  constructor(fault: ProcessFault) {
    super(`The process of the agency ended: ${fault.message}`);
    this.fault = fault;
  }
}

/** The code failed. The message is its own. */
export class CodeFailed extends Error {
  override readonly name = 'CodeFailed';

  constructor({ message, fields }: SentError) {
    super(message);
    Object.assign(this, fields);
  }
}

export interface ProcessOptions {
  readonly env: Readonly<Record<string, string>>;
  readonly memoryMib: number;
  /** How long its event loop may give no answer. */
  readonly silenceMs: number;
  readonly guard: ProcessGuard;
  readonly onFault: (fault: ReportedFault) => void;
  readonly onWithheld: (variable: string) => void;
}

interface OpenQuestion {
  readonly ask: Question;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
  readonly onProgress: ((text: string) => void) | undefined;
  readonly onPart: ((part: unknown) => void) | undefined;
}

export interface AskOptions {
  readonly signal?: AbortSignal;
  readonly onProgress?: (text: string) => void;
  readonly onPart?: (part: unknown) => void;
  /** Gets a function that lets a stream send more parts. */
  readonly onMore?: (more: (parts: number) => void) => void;
}

const IS_SOURCE = import.meta.url.endsWith('.ts');
/** A bundle has the child beside it. */
const CHILD = fileURLToPath(new URL(IS_SOURCE ? '../agency-child.ts' : './agency-child.js', import.meta.url));

/** A process that runs the code of one version of an agency. It is started once, and ends once. */
export class AgencyProcess {
  readonly #child: ChildProcess;
  readonly #channel: Socket;
  readonly #options: ProcessOptions;
  readonly #open = new Map<number, OpenQuestion>();
  readonly #ended = Promise.withResolvers<ProcessFault | null>();
  readonly #ticks: NodeJS.Timeout;
  #nextId = 0;
  #fault: ProcessFault | null = null;
  #isEnding = false;
  #hasEnded = false;
  /** The first tick measures the memory. */
  #idleTicks = IDLE_TICKS;
  /** Ticks since a ping that was not answered; null if no ping is open. */
  #unanswered: number | null = null;
  #wasOverLimit = false;
  /** Null before the first measurement. */
  memoryBytes: number | null = null;
  /** Calls that took too long and ignored their signal. */
  stuckCalls = 0;
  /** Called after a question was answered. */
  onAnswered: (() => void) | null = null;

  constructor(options: ProcessOptions) {
    this.#options = options;
    const { memoryMib, env, guard } = options;
    this.#child = spawn(
      process.execPath,
      [`--max-old-space-size=${memoryMib}`, '--max-semi-space-size=4', ...(IS_SOURCE ? ['-C', 'runwire'] : []), CHILD],
      {
        env,
        // What people's code prints appears in the server's log, on stderr.
        stdio: ['ignore', 2, 2, 'pipe'],
        // A group of its own: what tools start ends with it.
        detached: process.platform !== 'win32',
        windowsHide: true,
      },
    );
    this.#channel = this.#child.stdio[3] as Socket;
    this.#channel.on('error', () => {});
    readFrames(
      this.#channel,
      (message) => this.#receive(message as ToServer),
      (error) => this.#endWith('exit', `It wrote to the channel of the server (${String(error)}).`),
    );
    if (this.#child.pid !== undefined) guard.add(this.#child.pid);
    this.#child.on('error', (error) => this.#finish(`It could not be started: ${error.message}.`));
    this.#child.on('exit', (code, signal) => this.#finish(endSentence(code, signal)));
    this.#ticks = setInterval(() => this.#tick(), TICK_MS).unref();
  }

  get pid(): number | null {
    return this.#child.pid ?? null;
  }

  get openQuestions(): number {
    return this.#open.size;
  }

  /** Resolves when the process has ended: to the reason, or to null if `end` was called. */
  get ended(): Promise<ProcessFault | null> {
    return this.#ended.promise;
  }

  /** Rejects with `CodeFailed`, or with `ProcessEnded`. */
  ask(ask: Question, { signal, onProgress, onPart, onMore }: AskOptions = {}): Promise<unknown> {
    if (this.#hasEnded) return Promise.reject(new ProcessEnded(this.#reason('It has ended.')));
    this.#nextId += 1;
    const id = this.#nextId;
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    this.#open.set(id, { ask, resolve, reject, onProgress, onPart });
    const abort = () => this.#send({ id, abort: true });
    try {
      this.#send({ id, ask });
    } catch (error) {
      this.#open.delete(id);
      return Promise.reject(error instanceof Error ? error : new Error(String(error)));
    }
    if (signal === undefined && onMore === undefined) return promise;
    onMore?.((parts) => this.#send({ id, more: parts }));
    if (signal?.aborted === true) abort();
    signal?.addEventListener('abort', abort, { once: true });
    return promise.finally(() => signal?.removeEventListener('abort', abort));
  }

  #send(message: ToProcess): void {
    if (!this.#hasEnded) sendFrame(this.#channel, message);
  }

  #receive(message: ToServer): void {
    if ('fault' in message) this.#reported(message.fault);
    else if ('withheld' in message) this.#options.onWithheld(String(message.withheld));
    else {
      const open = this.#open.get(message.id);
      if (open !== undefined) this.#answered(message, open);
    }
  }

  #answered(message: Extract<ToServer, { id: number }>, { resolve, reject, onProgress, onPart }: OpenQuestion): void {
    if ('progress' in message) onProgress?.(String(message.progress));
    else if ('part' in message) onPart?.(message.part);
    else {
      this.#open.delete(message.id);
      if ('failed' in message) reject(new CodeFailed(message.failed));
      else resolve(message.done);
      this.onAnswered?.();
    }
  }

  #reported(fault: ReportedFault): void {
    if (fault.kind !== 'rejection') {
      this.#fault ??= { kind: fault.kind, message: fault.message, usedBy: fault.usedBy, at: Date.now() };
    }
    this.#options.onFault(fault);
  }

  #tick(): void {
    if (this.#unanswered !== null) {
      this.#unanswered += 1;
      void this.#checkResident();
      if (this.#unanswered * TICK_MS < this.#options.silenceMs) return;
      const seconds = this.#options.silenceMs / 1000;
      this.#endWith('silent', `Its event loop did not turn for ${seconds} seconds; remove what loops or blocks.`);
      return;
    }
    this.#idleTicks += 1;
    if (this.#open.size === 0 && this.#idleTicks < IDLE_TICKS) return;
    this.#idleTicks = 0;
    this.#unanswered = 0;
    const answered = (pong: unknown) => {
      this.#unanswered = null;
      this.#checkMemory(Number((pong as Pong | null | undefined)?.memoryBytes ?? 0));
    };
    // People's code can break what the answer is made of. The event loop turns nevertheless.
    const failed = () => {
      this.#unanswered = null;
      void this.#checkResident();
    };
    this.ask({ kind: 'ping' }).then(answered, failed);
  }

  /** Buffers that the collector has not freed yet count too, so the second measurement in a row decides. */
  #checkMemory(bytes: number): void {
    this.memoryBytes = bytes;
    const isOver = bytes > this.#limitBytes;
    if (isOver && this.#wasOverLimit) this.#endForMemory();
    this.#wasOverLimit = isOver;
  }

  /** Code that does not return to its event loop reports no memory. Linux shows what is resident. */
  async #checkResident(): Promise<void> {
    const text = await readFile(`/proc/${this.#child.pid}/statm`, 'latin1').catch(() => '');
    const residentBytes = Number(text.split(' ')[1] ?? 0) * PAGE_BYTES;
    if (residentBytes > this.#limitBytes + OTHER_MEMORY_BYTES) this.#endForMemory();
  }

  get #limitBytes(): number {
    return this.#options.memoryMib * 1024 * 1024;
  }

  #endForMemory(): void {
    const sentence = `It used more than ${this.#options.memoryMib} MiB; raise RUNWIRE_AGENCY_MEMORY_MIB, or use less.`;
    this.#endWith('memory', sentence);
  }

  #endWith(kind: ProcessFault['kind'], message: string): void {
    this.#fault ??= { kind, message, usedBy: this.#onlyUse, at: Date.now() };
    this.#kill();
  }

  #reason(message: string): ProcessFault {
    return this.#fault ?? { kind: 'exit', message, usedBy: this.#onlyUse, at: Date.now() };
  }

  /** What the process was asked for, if that was one thing: then it ended the process. */
  get #onlyUse(): UsedBy | null {
    const asked = [...this.#open.values()].filter(({ ask }) => ask.kind !== 'ping');
    return asked.length === 1 && asked[0] !== undefined ? toUsedBy(asked[0].ask) : null;
  }

  /** Ends the process, with what it started. */
  end(fault: ProcessFault | null = null): void {
    this.#isEnding = true;
    this.#fault ??= fault;
    this.#kill();
  }

  #kill(): void {
    const { pid } = this.#child;
    if (pid === undefined || this.#hasEnded) return;
    if (process.platform === 'win32') this.#child.kill('SIGKILL');
    else killGroup(pid);
  }

  #finish(message: string): void {
    if (this.#hasEnded) return;
    const { pid } = this.#child;
    // Processes that its tools started are in its group and may still run.
    if (pid !== undefined && process.platform !== 'win32') killGroup(pid);
    // The last messages may still be in the channel: they say why the process ended.
    const done = () => this.#close(message);
    if (this.#channel.closed) done();
    else {
      this.#channel.once('close', done);
      // The channel stays open if a process that left the group has it. On a busy machine the timer is due before what has
      // arrived was read; an immediate runs after it was.
      setTimeout(() => setImmediate(() => this.#channel.destroy()), LAST_MESSAGES_MS).unref();
    }
  }

  #close(message: string): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    clearInterval(this.#ticks);
    const { pid } = this.#child;
    if (pid !== undefined) this.#options.guard.remove(pid);
    const fault = this.#reason(message);
    for (const { reject } of this.#open.values()) reject(new ProcessEnded(fault));
    this.#open.clear();
    this.#ended.resolve(this.#isEnding ? null : fault);
  }
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // No process of the group is left.
  }
}

function endSentence(code: number | null, signal: NodeJS.Signals | null): string {
  // V8 aborts the process if the heap is full.
  if (signal === 'SIGABRT' || code === 134) return 'It crashed (SIGABRT), most likely because its memory was full.';
  if (signal !== null) return `It was ended by ${signal}.`;
  return `It ended itself with exit code ${code}; remove \`process.exit\`.`;
}
