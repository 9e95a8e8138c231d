import {
  type CancelResult,
  DetachedError,
  type Frame,
  type Question,
  type Run,
  RunActiveError,
  type RunResult,
  RunwireError,
  type StreamMeta,
} from '@runwire/client';
import { api } from '../../app/api.ts';
import { InputError, isConnectionLost } from '../../app/errors.ts';
import { noteError, queryClient } from '../../app/query-client.ts';
import { Changes } from './changes.ts';
import { RunParts } from './run-parts.ts';

/** The client repeats a refused request while the chat has an active run. After this time the page looks for that run. */
const ADMISSION_MS = 1500;

interface LiveRunStart {
  readonly apiIntegrationId: string;
  readonly chatId: string;
  readonly run: Run;
  /** False if the run was started before: its times are not known. */
  readonly isNew: boolean;
  /** The questions that the run answers. */
  readonly asked: readonly Question[];
}

/** What the person asked to stop, and what the server answered. */
type StopState = 'asked' | CancelResult['status'] | RunwireError | null;

/** A run that this page reads. */
export class LiveRun {
  readonly changes = new Changes();
  readonly content: RunParts;
  readonly apiIntegrationId: string;
  readonly isNew: boolean;
  /** Null until the server has admitted the run. */
  runId: string | null;
  usageRequestId: string | null;
  result: RunResult | null = null;
  /** Why the run was refused, or is not read any more. */
  error: unknown = null;
  stopState: StopState = null;
  /** True if the server has not admitted the run for a while. The client repeats a request that may be accepted later. */
  isDelayed = false;
  firstTokenMs: number | null = null;
  totalMs: number | null = null;
  #isAbsent = false;
  readonly #run: Run;
  readonly #chatId: string;
  readonly #startedMs = performance.now();

  constructor({ apiIntegrationId, chatId, run, isNew, asked }: LiveRunStart) {
    this.content = new RunParts(asked.map((call) => ({ ...call, arguments: JSON.stringify(call.arguments) })));
    this.apiIntegrationId = apiIntegrationId;
    this.#chatId = chatId;
    this.#run = run;
    this.isNew = isNew;
    this.runId = run.handle.runId;
    this.usageRequestId = run.handle.usageRequestId;
  }

  get isActive(): boolean {
    return this.result === null && this.error === null;
  }

  /** True if the reading failed, but the server may have the run. */
  get mayRun(): boolean {
    if (this.#isAbsent || this.isActive) return false;
    const { error, runId } = this;
    const isAdmitted = error instanceof RunwireError && (error.admitted === true || error.admitted === 'unknown');
    return isAdmitted || runId !== null || isConnectionLost(error);
  }

  /** The server answered that it does not have the run. */
  noteAbsence(): void {
    if (this.isActive) return;
    this.#isAbsent = true;
    if (isConnectionLost(this.error)) this.error = new InputError('The message did not reach the server.');
    this.changes.add();
  }

  /** Reads to the end. Never rejects: what went wrong is in `error`. */
  async read(): Promise<void> {
    const timer = setTimeout(() => void this.#findOtherRun(), ADMISSION_MS);
    try {
      for await (const frame of this.#run.frames()) this.#take(frame);
      this.result = await this.#run.result();
      this.totalMs = performance.now() - this.#startedMs;
      for (const queryKey of [['runs'], ['chats'], ['usage'], ['members'], ['files']]) {
        void queryClient.invalidateQueries({ queryKey });
      }
    } catch (error) {
      noteError(error);
      this.error ??= error;
    } finally {
      clearTimeout(timer);
      this.changes.add();
    }
  }

  #take(frame: Frame): void {
    if (frame.event === 'meta') {
      const meta = JSON.parse(frame.data) as StreamMeta;
      this.runId = meta.run_id;
      this.usageRequestId = meta.usageRequestId;
      this.changes.add();
    }
    this.content.take(frame);
    if (this.firstTokenMs === null && this.content.hasText) this.firstTokenMs = performance.now() - this.#startedMs;
  }

  /** If another run of the chat is active, this one is given up, and the page offers to follow the other one. */
  async #findOtherRun(): Promise<void> {
    if (this.#run.handle.runId !== null) return;
    this.isDelayed = true;
    this.changes.add();
    const { apiIntegrationId } = this;
    const chat = await api()
      .chats.get({ apiIntegrationId, chatId: this.#chatId })
      .catch(() => null);
    const activeRunId = chat?.activeRunId ?? null;
    if (activeRunId === null || this.#run.handle.runId !== null || !this.isActive) return;
    const message = 'The chat has an active run.';
    this.error = new RunActiveError({ code: 'run_active', message, body: { runId: activeRunId } });
    this.#run.detach();
  }

  async stop(): Promise<void> {
    this.stopState = 'asked';
    this.changes.add();
    try {
      this.stopState = (await this.#run.cancel()).status;
    } catch (error) {
      noteError(error);
      this.stopState = error as RunwireError;
    }
    this.changes.add();
  }

  /** Stops reading; the run continues. */
  close(): void {
    if (!this.isActive) return;
    this.error = new DetachedError(this.#run.handle, 'detached', 'The page was left.');
    this.#run.detach();
  }
}
