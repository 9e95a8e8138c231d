import { type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type JSONRPCMessage,
  parseJSONRPCMessage,
  SdkError,
  SdkErrorCode,
  serializeMessage,
  type Transport,
} from '@modelcontextprotocol/client';
import { MAX_MESSAGE_BYTES } from './message-limit.ts';
import { ToolLists } from './tool-lists.ts';
import type { LeftOutTool } from './tool-problem.ts';

export interface StdioProgram {
  readonly command: string;
  readonly args: readonly string[];
  /** The whole environment of the program. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string | null;
}

const KEPT_STDERR = 2000;
/** What the program wrote before it ended may arrive after the report of its end. */
const LAST_OUTPUT_MS = 200;
const STDIN_CLOSED_MS = 1500;
const TERMINATED_MS = 1500;

type Child = ChildProcessByStdio<Writable, Readable, Readable>;

/**
 * A server that is a child process. Unlike the SDK's transport, it starts a process group and ends the whole group:
 * `npx` and shells start the server as a grandchild, which would survive. Lines that are not messages are ignored.
 */
export class StdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #program: StdioProgram;
  readonly #lists = new ToolLists();
  #child: Child | null = null;
  #pieces: Buffer[] = [];
  #pieceBytes = 0;
  #stderr = '';
  #exit: string | null = null;
  /** Why we ended the program; null if we did not. */
  #reason: string | null = null;
  readonly #ended = Promise.withResolvers<void>();

  constructor(program: StdioProgram) {
    this.#program = program;
  }

  /** How the program ended and what it wrote last to stderr, for people; '' if it runs and wrote nothing. */
  get report(): string {
    return [this.#exit ?? '', this.#lines.slice(-3).join(' ').trim()].filter((text) => text !== '').join(': ');
  }

  /** Null if nothing was written, or if the line is so long that its beginning is not kept: a secret can be cut there. */
  get lastOutput(): string | null {
    const lines = this.#lines;
    return lines.length > 1 || this.#stderr.length < KEPT_STDERR ? (lines.at(-1)?.trim() ?? null) : null;
  }

  get #lines(): readonly string[] {
    // Node ends an error's report with its version.
    return this.#stderr.split('\n').filter((line) => line.trim() !== '' && !/^Node\.js v\d/.test(line));
  }

  /** The tools that are missing in the last list. */
  get leftOut(): readonly LeftOutTool[] {
    return this.#lists.leftOut;
  }

  async start(): Promise<void> {
    const { command, args, env, cwd } = this.#program;
    const child: Child = spawn(command, args, {
      env,
      ...(cwd === null ? {} : { cwd }),
      stdio: ['pipe', 'pipe', 'pipe'],
      detached: true,
      windowsHide: true,
    });
    this.#child = child;
    child.stdin.on('error', (error) => this.onerror?.(error));
    child.stdout.on('error', (error) => this.onerror?.(error));
    child.stdout.on('data', (chunk: Buffer) => this.#read(chunk));
    child.stderr.on('error', () => {});
    child.stderr.on('data', (chunk: Buffer) => {
      this.#stderr = (this.#stderr + chunk.toString('utf8')).slice(-KEPT_STDERR);
    });
    const started = Promise.withResolvers<void>();
    child.once('spawn', () => started.resolve());
    child.once('error', (error) => {
      started.reject(error);
      this.#end();
    });
    child.once('exit', (code, signal) => {
      const end = signal === null ? `the program ended with code ${code}` : `the program was ended by ${signal}`;
      this.#exit = this.#reason ?? end;
      this.#kill('SIGKILL');
      void sleep(LAST_OUTPUT_MS, undefined, { ref: false }).then(() => this.#end());
    });
    child.once('close', () => this.#end());
    await started.promise;
  }

  #end(): void {
    const child = this.#child;
    if (child === null) return;
    this.#child = null;
    this.#pieces = [];
    // A process outside the group may have inherited the pipes.
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy();
    this.#ended.resolve();
    this.onclose?.();
  }

  #read(chunk: Buffer): void {
    let rest = chunk;
    for (let end = rest.indexOf(0x0a); end !== -1; end = rest.indexOf(0x0a)) {
      const line = Buffer.concat([...this.#pieces, rest.subarray(0, end)]).toString('utf8');
      this.#pieces = [];
      this.#pieceBytes = 0;
      rest = rest.subarray(end + 1);
      this.#receive(line);
    }
    if (rest.length === 0) return;
    this.#pieces.push(rest);
    this.#pieceBytes += rest.length;
    if (this.#pieceBytes <= MAX_MESSAGE_BYTES) return;
    this.#pieces = [];
    this.#pieceBytes = 0;
    this.#stop('the program wrote a message that is too long');
  }

  /** Ends a program that misbehaves. */
  #stop(reason: string): void {
    this.#reason = reason;
    this.#kill('SIGKILL');
  }

  #receive(line: string): void {
    let message: JSONRPCMessage;
    try {
      message = parseJSONRPCMessage(JSON.parse(line));
    } catch {
      // Programs print other things to stdout, such as banners.
      return;
    }
    try {
      this.onmessage?.(this.#lists.received(message, () => line.length));
    } catch (error) {
      // What one server sends must not end the process.
      this.onerror?.(error instanceof Error ? error : new Error(String(error)));
    }
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const child = this.#child;
    if (child === null) throw new SdkError(SdkErrorCode.NotConnected, 'Not connected');
    this.#lists.sent(message);
    // Does not wait for the pipe to drain: a program that does not read would hold the call beyond its time limit.
    child.stdin.write(serializeMessage(message));
    if (child.stdin.writableLength > MAX_MESSAGE_BYTES) this.#stop('the program does not read its input');
  }

  /** Resolves when the program and its group's processes have ended. */
  async close(): Promise<void> {
    const child = this.#child;
    if (child === null) return;
    const ended = this.#ended.promise.then(() => true);
    const within = (ms: number) => Promise.race([ended, sleep(ms, false, { ref: false })]);
    child.stdin.end();
    if (await within(STDIN_CLOSED_MS)) return;
    this.#kill('SIGTERM', child);
    if (await within(TERMINATED_MS)) return;
    this.#kill('SIGKILL', child);
    await within(TERMINATED_MS);
    this.#end();
  }

  #kill(signal: NodeJS.Signals, child = this.#child): void {
    if (child?.pid === undefined) return;
    try {
      process.kill(-child.pid, signal);
    } catch {
      // No process of the group is left.
      child.kill(signal);
    }
  }
}
