import { unlessAborted } from '@runwire/lib/unless-aborted.ts';
import { isTooDeep, TOO_DEEP } from '@runwire/models';
import type { WrongTry } from '../domain/run/step.ts';
import type { CheckResult, PromptItem } from './ports.ts';
import type { ResponseAssembly } from './response-assembly.ts';
import type { OutputSchema, TeamAgent } from './team.ts';

/** How often a model receives what is wrong with its answer. */
export const MAX_REPAIRS = 2;

const CUT_OFF = 'it was cut off because it was too long; write a shorter one';

/**
 * Returns null if the answer is what the agent's schema accepts, or if it is no last answer because it has calls. The check
 * may be code of the agency: if it throws, the answer counts as wrong; if it does not return, the run's end does not
 * wait for it.
 */
export async function checkOutput(
  { output }: TeamAgent,
  assembly: Pick<ResponseAssembly, 'heldText' | 'hasCalls'>,
  isCut: boolean,
  signal: AbortSignal,
): Promise<WrongTry | null> {
  if (output === null) return null;
  const text = assembly.heldText;
  if (isCut) return { text, problem: CUT_OFF };
  if (assembly.hasCalls) return null;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { text, problem: 'it is not JSON; write the JSON alone, without any other text' };
  }
  if (isTooDeep(text)) return { text, problem: `it is ${TOO_DEEP}` };
  const checked = await unlessAborted(signal, checkValue(output, value));
  return 'problem' in checked ? { text, problem: checked.problem } : null;
}

async function checkValue(output: OutputSchema, value: unknown): Promise<CheckResult> {
  try {
    return await output.check(value);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { problem: `its check failed: ${message.replace(/\.$/, '')}` };
  }
}

/** What the model receives after a wrong answer. Providers refuse a blank answer in a prompt. */
export function repairItems({ text, problem }: WrongTry): readonly PromptItem[] {
  const answer = text.trim() === '' ? [] : [{ kind: 'assistant' as const, text }];
  return [
    ...answer,
    { kind: 'user', text: `Your answer cannot be used: ${problem}. Answer again, with the JSON alone.` },
  ];
}
