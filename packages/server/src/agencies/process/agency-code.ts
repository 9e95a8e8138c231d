import { setTimeout as sleep } from 'node:timers/promises';
import { GRACE_MS } from '../../agent/call-limit.ts';
import { failedCall, type ToolOutcome } from '../../agent/ports.ts';
import { type GivenImage, withinLimits } from '../../domain/run/tool-image.ts';
import { type AgencyProcess, type AskOptions, ProcessEnded, type ProcessFault } from './agency-process.ts';
import type { AgencyProcesses } from './agency-processes.ts';
import type { CallAnswer, LoadAnswer, LoadQuestion, Question, SentCall, UsedBy } from './messages.ts';
import { toUsedBy } from './used-by.ts';

/** How long a call waits for a process that is starting. */
const START_WAIT_MS = 5000;
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 30_000;
/** A process that ran this long was healthy: the next start does not wait. */
const HEALTHY_MS = 60_000;
/** How long the other calls of a process with a stuck call may take to end. */
const REPLACE_MS = 30_000;
/** A call that ended two processes is not made again. */
const MAX_ENDINGS = 2;
/** Other calls can end the process too. */
const MAX_ATTEMPTS = 5;

/** The code cannot be used now. The message is for the model and the log. */
export class CodeUnavailable extends Error {
  override readonly name = 'CodeUnavailable';
}

/** A tool, as sentences about it name it. */
export interface NamedTool {
  readonly ref: string;
  readonly name: string;
  readonly file: string;
  readonly repeatable: boolean;
  readonly timeoutMs: number | undefined;
}

/** What `/v2/agencies` shows of the process. */
export interface CodeState {
  readonly state: 'running' | 'starting' | 'failed';
  readonly pid: number | null;
  readonly memoryBytes: number | null;
  readonly restarts: number;
  readonly lastFault: ProcessFault | null;
}

export interface CodeOptions {
  readonly agency: string;
  /** `env` of the agency. */
  readonly env: Readonly<Record<string, string>>;
  readonly load: Pick<LoadQuestion, 'folder' | 'source'>;
  /** True if the folder still has the files that were loaded first. */
  readonly isSameCode: (answer: LoadAnswer) => Promise<boolean>;
  /** Called if the folder has other files now, so that they are loaded as a new version. */
  readonly onChanged: () => void;
}

/**
 * The code of one loaded version of an agency, in a process that is started again after a fault:
 *
 *   running ── fault ──▶ starting ──▶ running
 *      │                    └─ cannot start ──▶ failed ── pause ──▶ starting
 *      └─ retired, and its last run has ended ──▶ ended: the loaded version of the agency makes the calls
 */
export class AgencyCode {
  readonly #processes: AgencyProcesses;
  readonly #options: CodeOptions;
  #process: AgencyProcess | null;
  #state: CodeState['state'] = 'running';
  #startedAt = performance.now();
  #pauseMs = 0;
  #restarts = 0;
  #lastFault: ProcessFault | null = null;
  #users = 0;
  #isRetired = false;
  #successor: () => AgencyCode | null = () => null;
  /** Settled and replaced whenever the state changes. */
  #changed = Promise.withResolvers<void>();
  readonly #stop = new AbortController();

  constructor(processes: AgencyProcesses, process: AgencyProcess, options: CodeOptions) {
    this.#processes = processes;
    this.#options = options;
    this.#process = process;
    this.#watch(process);
  }

  get state(): CodeState {
    return {
      state: this.#state,
      pid: this.#process?.pid ?? null,
      memoryBytes: this.#process?.memoryBytes ?? null,
      restarts: this.#restarts,
      lastFault: this.#lastFault,
    };
  }

  /** Keeps the process while a run uses it. */
  use(): Disposable {
    this.#users += 1;
    let isReleased = false;
    return {
      [Symbol.dispose]: () => {
        if (isReleased) return;
        isReleased = true;
        this.#users -= 1;
        if (this.#isRetired && this.#users === 0) this.end();
      },
    };
  }

  /** Another version is loaded. The process ends with its last run. */
  retire(successor: () => AgencyCode | null): void {
    this.#isRetired = true;
    this.#successor = successor;
    if (this.#users === 0 || this.#process === null) this.end();
    this.#notify();
  }

  end(): void {
    this.#stop.abort();
    this.#process?.end();
    this.#process = null;
    this.#notify();
  }

  #notify(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers<void>();
  }

  #watch(process: AgencyProcess): void {
    void process.ended.then((fault) => {
      if (this.#process !== process) return;
      this.#process = null;
      if (fault === null || this.#stop.signal.aborted) return;
      this.#recordFault(fault);
      if (this.#isRetired) this.end();
      else void this.#restart();
    });
  }

  #recordFault(fault: ProcessFault): void {
    this.#lastFault = fault;
    this.#processes.reportEnd(this.#options.agency, fault);
    if (performance.now() - this.#startedAt > HEALTHY_MS) this.#pauseMs = 0;
  }

  /** Starts a process until one has loaded the code, with growing pauses. */
  async #restart(): Promise<void> {
    this.#restarts += 1;
    while (!this.#stop.signal.aborted && this.#process === null) {
      this.#state = this.#pauseMs === 0 ? 'starting' : 'failed';
      this.#notify();
      const pauseMs = this.#pauseMs;
      this.#pauseMs = Math.min(Math.max(FIRST_PAUSE_MS, pauseMs * 2), LONGEST_PAUSE_MS);
      await sleep(pauseMs, undefined, { signal: this.#stop.signal, ref: false }).catch(() => {});
      if (this.#stop.signal.aborted) return;
      this.#state = 'starting';
      await this.#start();
    }
  }

  async #start(): Promise<void> {
    const { agency, env, load, isSameCode, onChanged } = this.#options;
    const process = this.#processes.start(agency, env);
    const endNow = () => process.end();
    this.#stop.signal.addEventListener('abort', endNow, { once: true });
    try {
      const answer = await this.#processes.load(process, load);
      const isSame = !('failure' in answer) && (await isSameCode(answer));
      if (this.#stop.signal.aborted) return;
      if (!isSame) {
        const message = 'failure' in answer ? answer.failure.message : 'The files of the agency have changed.';
        this.#lastFault = { kind: 'exit', message, usedBy: null, at: Date.now() };
        process.end();
        onChanged();
        return;
      }
      this.#process = process;
      this.#state = 'running';
      this.#startedAt = performance.now();
      this.#watch(process);
      this.#notify();
    } finally {
      this.#stop.signal.removeEventListener('abort', endNow);
    }
  }

  /** Waits for a process, of this version or of its successor. Throws `CodeUnavailable`. */
  async #running(): Promise<{ readonly code: AgencyCode; readonly process: AgencyProcess }> {
    let late: Promise<'late'> | null = null;
    while (true) {
      const code = this.isEnded ? this.#successor() : this;
      if (code === null || code.isEnded) return this.#refuse();
      if (code.#process !== null) return { code, process: code.#process };
      late ??= sleep(START_WAIT_MS, 'late' as const, { ref: false });
      if ((await Promise.race([code.#changed.promise, late])) === 'late') return this.#refuse();
    }
  }

  /** True if no process of this version is started again. */
  get isEnded(): boolean {
    return this.#stop.signal.aborted;
  }

  #refuse(): never {
    const { agency } = this.#options;
    const reason = this.#lastFault === null ? '' : ` (${this.#lastFault.message.replace(/\.$/, '')})`;
    throw new CodeUnavailable(`The process of the agency \`${agency}\` is not running${reason}; try again later.`);
  }

  /** Asks what has no effect outside, so it is asked again if the process ends. */
  async ask(question: Question, options: AskOptions = {}): Promise<unknown> {
    for (let attempt = 1; ; attempt += 1) {
      const { process } = await this.#running();
      try {
        return await process.ask(question, options);
      } catch (error) {
        if (!(error instanceof ProcessEnded) || attempt === MAX_ENDINGS || options.signal?.aborted === true)
          throw error;
      }
    }
  }

  /** Asks once: parts that were sent cannot be taken back. */
  async askOnce(question: Question, options: AskOptions): Promise<unknown> {
    const { process } = await this.#running();
    return process.ask(question, options);
  }

  /** Makes a call. If the process ends, a repeatable call is made once more; the outcome of others is unknown. */
  async call(
    tool: NamedTool,
    question: { readonly input: unknown; readonly argumentsText: string; readonly call: SentCall },
    options: AskOptions & { readonly signal: AbortSignal },
  ): Promise<ToolOutcome> {
    let endings = 0;
    for (let attempt = 1; ; attempt += 1) {
      const { code, process } = await this.#running();
      options.signal.throwIfAborted();
      const ask = { kind: 'call', tool: tool.ref, ...question } as const;
      const late = code.#endIfStuck(process, tool, ask);
      try {
        return checkedAnswer(await process.ask(ask, options));
      } catch (error) {
        if (!(error instanceof ProcessEnded) || options.signal.aborted) throw error;
        if (!tool.repeatable) return unknownOutcome(error.fault);
        if (mayHaveEnded(question.call, error.fault)) endings += 1;
        if (endings === MAX_ENDINGS || attempt === MAX_ATTEMPTS) return this.#endedTwice(tool, error.fault);
      } finally {
        late[Symbol.dispose]();
      }
    }
  }

  #endedTwice({ name, file }: NamedTool, { message }: ProcessFault): ToolOutcome {
    const where = `The tool \`${name}\` of the agency \`${this.#options.agency}\` (\`${file}\`)`;
    return failedCall(`${where} ended its process twice, and is not called again: ${message}`);
  }

  /** Replaces the process if the call ignores its signal after its time is over. */
  #endIfStuck(process: AgencyProcess, { timeoutMs, name }: NamedTool, ask: Question): Disposable {
    if (timeoutMs === undefined) return { [Symbol.dispose]() {} };
    const timer = setTimeout(() => {
      process.stuckCalls += 1;
      if (this.#process === process) this.#replace(process, name, toUsedBy(ask));
    }, timeoutMs + GRACE_MS).unref();
    return { [Symbol.dispose]: () => clearTimeout(timer) };
  }

  #replace(process: AgencyProcess, tool: string, usedBy: UsedBy): void {
    const message = `The tool \`${tool}\` took too long and ignored its \`abortSignal\`.`;
    const fault: ProcessFault = { kind: 'replaced', message, usedBy, at: Date.now() };
    this.#process = null;
    this.#recordFault(fault);
    const end = () => process.end(fault);
    const timer = setTimeout(end, REPLACE_MS).unref();
    const endWithLast = () => {
      if (process.openQuestions <= process.stuckCalls) end();
    };
    process.onAnswered = endWithLast;
    void process.ended.then(() => clearTimeout(timer));
    this.#stop.signal.addEventListener('abort', end, { once: true });
    endWithLast();
    if (this.#isRetired) this.end();
    else void this.#restart();
  }
}

/** True if the call ended the process, or if it is not known which one did. */
function mayHaveEnded({ idempotencyKey }: SentCall, { usedBy }: ProcessFault): boolean {
  return usedBy === null || `${usedBy.runId}/${usedBy.callId}` === idempotencyKey;
}

/** The result of a call that was in progress when its process ended and that must not be repeated. */
function unknownOutcome({ message }: ProcessFault): ToolOutcome {
  return failedCall(
    `The process of the agency ended while this call was under way, and its outcome is unknown: it may or may not have taken effect. ${message}`,
  );
}

/** People's code can write to the channel, or break what the answer is made of. */
function checkedAnswer(answer: unknown): CallAnswer {
  const { status, text, textLength, images } = (answer ?? {}) as Partial<CallAnswer>;
  if ((status === 'completed' || status === 'failed') && typeof text === 'string') {
    const shown = { status, ...checkedImages(images) };
    return typeof textLength === 'number' ? { ...shown, text, textLength } : { ...shown, text };
  }
  return failedCall('The process of the agency sent an answer that is no result of a tool; the outcome is unknown.');
}

/** The process keeps the limits. Bytes beyond them were not sent by our code. */
function checkedImages(images: unknown): Pick<CallAnswer, 'images'> {
  if (!Array.isArray(images)) return {};
  const given = (images as readonly Partial<GivenImage>[]).flatMap((image): GivenImage[] => {
    const { bytes, mediaType } = image ?? {};
    return bytes instanceof Uint8Array && typeof mediaType === 'string'
      ? [{ bytes, mediaType, sizeBytes: bytes.length }]
      : [];
  });
  return { images: withinLimits({ text: '', images: given }).images };
}
