import { type ChatState, stateObject } from '../domain/chat/chat-state.ts';
import type { HiddenPart } from '../domain/run/hidden-part.ts';
import { RunFailure } from '../domain/run/run-failure.ts';
import { type AskedAgent, askInTime, CHECK_MS, TookTooLong } from './ask-in-time.ts';
import { EndedByOther, type IsEnabled } from './ports.ts';

/** A tool or a flow that a function can hide. */
export interface Condition extends HiddenPart {
  readonly isEnabled: IsEnabled;
}

/** The agent whose conditions are asked. */
export interface ConditionalAgent extends AskedAgent {
  /** The chat's state as it is now. */
  readonly state: () => Promise<ChatState>;
  /** Gets the reason why a function decided nothing, for the log. `part` names what the function belongs to. */
  readonly onFailure: (part: string, error: unknown) => void;
}

/** The functions that decide which tools and flows an agent's model sees in a step. */
export class AgentConditions {
  readonly #conditions: readonly Condition[];
  readonly #about: ConditionalAgent;
  readonly #limitMs: number;

  constructor(conditions: readonly Condition[], about: ConditionalAgent, limitMs = CHECK_MS) {
    this.#conditions = conditions;
    this.#about = about;
    this.#limitMs = limitMs;
  }

  /** Asks all functions concurrently. Resolves to what is hidden. Rejects with a `RunFailure` if one decides nothing. */
  async ask(startedAt: number): Promise<readonly HiddenPart[]> {
    const { member, state } = this.#about;
    const [asking, now] = await Promise.all([member(), state()]);
    // Waits for all, so that none is asked after the run has failed.
    const answers = await Promise.allSettled(
      this.#conditions.map((condition) => {
        const { agent, userContext } = this.#about;
        // Each function has its own copies, so no function changes what another one sees.
        const about = { agent, member: asking, userContext, state: stateObject(now), date: new Date(startedAt) };
        return this.#isEnabled(condition, about);
      }),
    );
    const failures = answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason as unknown] : []));
    if (failures.length > 0) throw failures.find((error) => !isOfOther(error)) ?? failures[0];
    return this.#conditions.flatMap(({ kind, name }, index) => {
      const answer = answers[index];
      return answer?.status === 'fulfilled' && !answer.value ? [{ kind, name }] : [];
    });
  }

  async #isEnabled(condition: Condition, about: Parameters<IsEnabled>[0]): Promise<boolean> {
    const { signal, onFailure } = this.#about;
    try {
      const answer = await askInTime((both) => condition.isEnabled(about, both), signal, this.#limitMs);
      if (typeof answer === 'boolean') return answer;
      throw new NoDecision(answer);
    } catch (error) {
      if (signal.aborted) throw error;
      onFailure(this.#describe(condition), error);
      throw this.#fail(condition, error);
    }
  }

  #fail(condition: Condition, cause: unknown): RunFailure {
    const { agency, agent } = this.#about;
    const where = `The function \`isEnabled\` of the ${this.#describe(condition)} of the agency \`${agency}\``;
    return new RunFailure('agency_error', `${where}, which the agent \`${agent}\` has, ${this.#toProblem(cause)}`, {
      cause,
    });
  }

  #toProblem(cause: unknown): string {
    if (cause instanceof TookTooLong) return `took longer than ${this.#limitMs / 1000} seconds.`;
    if (cause instanceof NoDecision) return `returned ${cause.returned} instead of true or false.`;
    return 'failed; the log of the server has the reason.';
  }

  #describe({ kind, name }: HiddenPart): string {
    if (kind === 'tool') return `tool \`${name}\``;
    return `${kind === 'handoff' ? 'hand-off' : 'delegation'} to \`${name}\``;
  }
}

const isOfOther = (error: unknown): boolean => error instanceof RunFailure && error.cause instanceof EndedByOther;

/** The value itself is neither shown nor logged. */
class NoDecision extends Error {
  readonly returned: string;

  constructor(returned: unknown) {
    const type = returned === null ? 'null' : typeof returned;
    super(`The function returned ${type} instead of true or false.`);
    this.returned = type;
  }
}
