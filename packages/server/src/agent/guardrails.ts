import type { GuardrailSubjects } from '@runwire/agency';
import type { GuardrailDecision, GuardrailPosition } from '../domain/run/guardrail-record.ts';
import { RunFailure } from '../domain/run/run-failure.ts';
import { type AskedAgent, askInTime, CHECK_MS, TookTooLong } from './ask-in-time.ts';
import { readVerdict, type Verdict } from './guardrail-verdict.ts';
import type { Guardrail } from './ports.ts';

/** The agent whose guardrails are asked. */
export interface GuardedAgent extends AskedAgent {
  /** Gets the reason why a check gave no verdict, for the log. */
  readonly onFailure: (guardrail: string, error: unknown) => void;
}

/** What the guardrails for one position decided together. */
export interface CheckResult<Value> {
  /** What counts now: the value that was checked, or the last replacement. */
  readonly value: Value;
  readonly isReplaced: boolean;
  /** Null if none blocked. */
  readonly blocked: string | null;
  /** True if a person must approve the call. */
  readonly asks: boolean;
  readonly decisions: readonly GuardrailDecision[];
}

/** The field that a replacement replaces. */
const REPLACED = { input: 'text', output: 'text', toolCall: 'arguments', toolResult: 'output' } as const;

type ValueOf<Position extends GuardrailPosition> = Position extends 'toolCall' ? unknown : string;

/** An agent's guardrails in one run, the agency's first. */
export class AgentGuardrails {
  readonly #guardrails: readonly Guardrail[];
  readonly #about: GuardedAgent;
  readonly #checkMs: number;

  constructor(guardrails: readonly Guardrail[], about: GuardedAgent, checkMs = CHECK_MS) {
    this.#guardrails = guardrails;
    this.#about = about;
    this.#checkMs = checkMs;
  }

  has(position: GuardrailPosition): boolean {
    return this.#guardrails.some(({ on }) => on === position);
  }

  /**
   * Asks one guardrail after the other. A replacement is what the next one checks; the first that blocks or asks is the last
   * one. Rejects with a `RunFailure` if one gives no verdict.
   */
  async ask<Position extends GuardrailPosition>(
    position: Position,
    subject: GuardrailSubjects[Position],
    callId?: string,
  ): Promise<CheckResult<ValueOf<Position>>> {
    const field: string = REPLACED[position];
    const decisions: GuardrailDecision[] = [];
    let value = (subject as Readonly<Record<string, unknown>>)[field];
    let isReplaced = false;
    for (const guardrail of this.#guardrails) {
      if (guardrail.on !== position) continue;
      const verdict = await this.#check(guardrail, { ...subject, [field]: value });
      decisions.push({
        guardrail: guardrail.name,
        on: position,
        verdict: verdict.kind,
        ...(verdict.kind === 'block' && { reason: verdict.reason }),
        ...(callId !== undefined && { callId }),
      });
      if (verdict.kind === 'replace') {
        value = verdict.value;
        isReplaced = true;
      } else if (verdict.kind !== 'pass') {
        const blocked = verdict.kind === 'block' ? verdict.reason : null;
        return this.#toResult({ value, isReplaced, blocked, asks: verdict.kind === 'ask', decisions });
      }
    }
    return this.#toResult({ value, isReplaced, blocked: null, asks: false, decisions });
  }

  /** `readVerdict` has checked that a replacement has the type of what it replaces. */
  #toResult<Value>(result: CheckResult<unknown>): CheckResult<Value> {
    return result as CheckResult<Value>;
  }

  async #check(guardrail: Guardrail, subject: object): Promise<Verdict> {
    const { agent, userContext, member, signal } = this.#about;
    const about = { agent, member: await member(), userContext, ...subject };
    const returned = await this.#inTime(guardrail, about);
    signal.throwIfAborted();
    const verdict = readVerdict(guardrail.on, returned);
    if ('problem' in verdict) throw this.fail(guardrail.name, `gave no verdict: it ${verdict.problem}.`);
    return verdict;
  }

  async #inTime(guardrail: Guardrail, about: unknown): Promise<unknown> {
    const { signal, onFailure } = this.#about;
    try {
      return await askInTime((both) => guardrail.check(about, both), signal, this.#checkMs);
    } catch (error) {
      if (signal.aborted) throw error;
      if (error instanceof TookTooLong)
        throw this.fail(guardrail.name, `took longer than ${this.#checkMs / 1000} seconds.`);
      onFailure(guardrail.name, error);
      throw this.fail(guardrail.name, 'failed; the log of the server has the reason.', error);
    }
  }

  /** `problem` continues a sentence that begins with the guardrail's name. */
  fail(guardrail: string, problem: string, cause?: unknown): RunFailure {
    const { agency, agent } = this.#about;
    const check = `The function \`check\` of the guardrail \`${guardrail}\` of the agency \`${agency}\``;
    return new RunFailure('agency_error', `${check}, which the agent \`${agent}\` has, ${problem}`, { cause });
  }
}

/** A guardrail blocked the user's message or the answer. The message is its reason. */
export class GuardrailBlocked extends RunFailure {
  override readonly name = 'GuardrailBlocked';
  readonly decisions: readonly GuardrailDecision[];

  constructor(reason: string, decisions: readonly GuardrailDecision[]) {
    super('guardrail_blocked', reason);
    this.decisions = decisions;
  }
}
