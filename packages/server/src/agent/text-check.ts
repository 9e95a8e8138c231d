import type { ToolCallItem } from '../domain/run/events.ts';
import type { GuardrailRecord } from '../domain/run/guardrail-record.ts';
import { readArguments } from './call-tool.ts';
import { GuardrailBlocked } from './guardrails.ts';
import type { TeamAgent } from './team.ts';

/** Checks a response's text before it is in the log: until then it is held back. */
export interface TextCheck {
  /** True if texts beside calls are checked too, and not only an agent's last one. */
  readonly everyText: boolean;
  /** Rejects if the run, or the delegation, fails by it. */
  readonly check: (text: string) => Promise<CheckedText>;
}

export interface CheckedText {
  /** What is sent and stored. Empty if the text was blocked. */
  readonly text: string;
  readonly isChanged: boolean;
  readonly record: GuardrailRecord;
}

/** Checks what the agent answers the user. Returns null if it has no such guardrail. */
export function outputCheck({ guardrails, output }: TeamAgent): TextCheck | null {
  if (guardrails === null || !guardrails.has('output')) return null;
  return {
    everyText: true,
    async check(text) {
      const { value, isReplaced, blocked, decisions } = await guardrails.ask('output', { text });
      if (blocked !== null) throw new GuardrailBlocked(blocked, decisions);
      if (isReplaced && output !== null && !(await isAccepted(output.check, value))) {
        const { guardrail = '' } = decisions.findLast(({ verdict }) => verdict === 'replace') ?? {};
        throw guardrails.fail(guardrail, "replaced the answer with a text that the agent's `output` does not accept.");
      }
      return { text: value, isChanged: isReplaced, record: { decisions } };
    },
  };
}

async function isAccepted(check: NonNullable<TeamAgent['output']>['check'], text: string): Promise<boolean> {
  try {
    return 'value' in (await check(JSON.parse(text)));
  } catch {
    return false;
  }
}

/** Checks a delegated agent's answer as a result that the sender gets. Returns null if the sender has no such guardrail. */
export function resultCheck({ guardrails }: TeamAgent, call: ToolCallItem): TextCheck | null {
  if (guardrails === null || !guardrails.has('toolResult')) return null;
  return {
    everyText: false,
    async check(output) {
      const { value, isReplaced, blocked, decisions } = await guardrails.ask(
        'toolResult',
        { ...aboutCall(call), output },
        call.callId,
      );
      return { text: blocked === null ? value : '', isChanged: blocked !== null || isReplaced, record: { decisions } };
    },
  };
}

/** What guardrails see. Arguments that are no JSON are shown as the model wrote them. */
export function aboutCall({ name, text }: ToolCallItem): { readonly tool: string; readonly arguments: unknown } {
  const read = readArguments(text);
  return { tool: name, arguments: 'problem' in read ? text : read.value };
}
