import { ModelFailure, promptBytes, type Tries } from '@runwire/models';
import { addUsage, NO_USAGE, type Usage } from '../domain/model/usage.ts';
import type { Step } from '../domain/run/step.ts';
import type { AgentTrace } from '../telemetry/run-trace.ts';
import { toErrorType } from './model-step.ts';
import type { InputUsage, Model, ModelOutput, ModelRequest, PromptItem } from './ports.ts';
import { estimatedUsage, type Progress } from './progress.ts';
import type { RunScope } from './run-scope.ts';

/** A longer text is cut off: it is held in memory. A summary has far fewer bytes. */
const MAX_BYTES = 128 * 1024;

/** What the call of a model needs of its run. */
export interface SummaryScope
  extends Pick<RunScope, 'runId' | 'attempt' | 'progress' | 'signal' | 'mayCall' | 'unfinished' | 'propagatesTrace'> {
  /** Called for each piece of output: the model is not silent. */
  heard(): void;
  readonly trace: AgentTrace | null;
}

export interface SummaryCall {
  readonly agent: string;
  /** Asked in this order, as long as there was no output. */
  readonly models: readonly Model[];
  readonly instructions: string;
  readonly text: string;
}

/** The step without its summary, and the text that the model wrote. */
export interface WrittenSummary {
  readonly step: Omit<Step, 'summary'>;
  readonly text: string;
}

/**
 * Asks for a summary. No reader sees its text. Resolves to null if no model wrote one; then the call is shown as failed. Rejects if
 * the run stops.
 */
export async function callForSummary(scope: SummaryScope, call: SummaryCall): Promise<WrittenSummary | null> {
  const { progress, signal, unfinished } = scope;
  progress.steps += 1;
  progress.modelSteps += 1;
  const step = progress.steps;
  const startedAt = Date.now();
  const tries: Tries = { count: 0 };
  const prompt: readonly PromptItem[] = [{ kind: 'user', text: call.text }];
  const sentBytes = promptBytes(call.instructions, prompt);
  let failedUsage = NO_USAGE;
  for (const [index, model] of call.models.entries()) {
    const about = {
      step,
      kind: 'summary' as const,
      loop: '',
      indexInLoop: 0,
      agent: call.agent,
      callerAgent: null,
      model: model.id,
      tool: null,
      callId: null,
      startedAt,
      promptBytes: sentBytes,
    };
    const until = scope.mayCall();
    if (until !== null) await until;
    signal.throwIfAborted();
    tries.count += 1;
    const answer = await askModel(scope, model, { ...call, prompt, step, tries, sentBytes });
    const more = tries.count > 1 ? { tries: tries.count } : {};
    if ('text' in answer) {
      const { text, usage } = answer;
      progress.add(usage, model.id);
      return {
        text,
        step: { ...about, ...more, status: 'completed', usage, output: [], completedAt: Date.now() },
      };
    }
    progress.addFailed('', answer.usage, model.id);
    failedUsage = addUsage(failedUsage, answer.usage);
    if (answer.mayFallBack && index + 1 < call.models.length) continue;
    unfinished.cut({ ...about, ...more, usage: failedUsage }, answer.failure);
    signal.throwIfAborted();
    return null;
  }
  return null;
}

interface Request extends SummaryCall {
  readonly prompt: readonly PromptItem[];
  readonly step: number;
  readonly tries: Tries;
  readonly sentBytes: number;
}

interface CallFailure {
  readonly failure: unknown;
  readonly mayFallBack: boolean;
  readonly usage: Usage;
}

async function askModel(
  scope: SummaryScope,
  model: Model,
  request: Request,
): Promise<CallFailure | { readonly text: string; readonly usage: Usage }> {
  const { progress, signal } = scope;
  const { sentBytes, prompt } = request;
  const trace = scope.trace?.chat(request.agent, model.id, model.address, () => prompt) ?? null;
  const output = new SummaryOutput(scope);
  const calledAt = performance.now();
  const end = (usage: Usage, errorType: string | null) => {
    progress.watcher?.onCallEnd(performance.now() - calledAt, model.id, errorType);
    trace?.end({ usage, errorType, output: () => [] });
  };
  let failure: unknown;
  try {
    const sent: ModelRequest = {
      runId: scope.runId,
      step: request.step,
      attempt: scope.attempt,
      instructions: request.instructions,
      prompt,
      tools: [],
      failsOnRefusal: true,
      mayCall: scope.mayCall,
      tries: request.tries,
      traceparent: scope.propagatesTrace ? trace?.traceparent : undefined,
    };
    const result = await model.call(sent, output, AbortSignal.any([signal, output.tooLong.signal]));
    const usage = result.usage === null ? output.used(sentBytes, true) : addUsage(output.earlierUsage, result.usage);
    const text = output.written.trim();
    if (text !== '') {
      end(usage, null);
      return { text, usage };
    }
    failure = new ModelFailure('model_error', 'The model wrote an empty summary.');
    end(usage, toErrorType(failure, signal));
    return { failure, mayFallBack: false, usage };
  } catch (error) {
    failure = error;
  }
  const usage = output.used(sentBytes, output.hasBegun);
  const text = output.written.trim();
  // What a cut answer has is worth more than no summary.
  const isCut = output.tooLong.signal.aborted || (failure instanceof ModelFailure && failure.problem === 'cut_short');
  if (isCut && text !== '' && !signal.aborted) {
    end(usage, null);
    return { text, usage };
  }
  end(usage, toErrorType(failure, signal));
  const isUnavailable = failure instanceof ModelFailure && failure.problem === 'unavailable';
  return { failure, mayFallBack: isUnavailable && text === '' && !signal.aborted, usage };
}

/** Collects the text. The log is not involved, so it never has to wait for room. */
class SummaryOutput implements ModelOutput {
  readonly isFull = false;
  readonly tooLong = new AbortController();
  written = '';
  hasBegun = false;
  /** The reported usage of answers that were discarded and requested again. */
  earlierUsage: Usage = NO_USAGE;
  readonly #scope: Pick<SummaryScope, 'heard'> & { readonly progress: Pick<Progress, 'accepted'> };
  #outputBytes = 0;
  #reported: Usage | null = null;
  #reportedInput: InputUsage | null = null;

  constructor(scope: SummaryScope) {
    this.#scope = scope;
  }

  onceRoom(callback: () => void): void {
    callback();
  }

  begun(): void {
    this.#accept();
    this.earlierUsage = addUsage(this.earlierUsage, this.#reportedUsage() ?? NO_USAGE);
    this.#reported = null;
    this.#reportedInput = null;
    this.#outputBytes = 0;
    this.written = '';
  }

  text(text: string): void {
    this.#count(text);
    if (this.#outputBytes > MAX_BYTES) this.tooLong.abort();
    else this.written += text;
  }

  reasoning(text: string): void {
    this.#count(text);
  }

  argumentsPiece(text: string): void {
    this.#count(text);
  }

  /** The model has no tools. */
  toolCall(): void {
    this.#accept();
  }

  replay(): void {}

  inputUsage(input: InputUsage): void {
    this.#accept();
    this.#reportedInput = input;
  }

  usage(usage: Usage): void {
    this.#accept();
    this.#reported = usage;
  }

  /** The usage of a call that was cut short, or whose provider reported none. */
  used(inputBytes: number, hasBegun: boolean): Usage {
    const whole = this.#reported ?? {
      ...estimatedUsage(inputBytes, this.#outputBytes, hasBegun),
      ...this.#reportedInput,
    };
    return addUsage(this.earlierUsage, whole);
  }

  #reportedUsage(): Usage | null {
    if (this.#reported !== null) return this.#reported;
    return this.#reportedInput && { ...NO_USAGE, requestCount: 1, ...this.#reportedInput };
  }

  #count(text: string): void {
    this.#accept();
    this.#scope.heard();
    this.#outputBytes += Buffer.byteLength(text);
  }

  #accept(): void {
    this.hasBegun = true;
    this.#scope.progress.accepted = true;
  }
}
