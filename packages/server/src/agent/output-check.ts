import type { WrongTry } from '../domain/step.ts';
import type { PromptItem } from './ports.ts';
import type { ResponseAssembly } from './response-assembly.ts';
import type { TeamAgent } from './team.ts';

/** How often a model receives what is wrong with its answer. */
export const MAX_REPAIRS = 2;

const CUT_OFF = 'it was cut off because it was too long; write a shorter one';

/** Returns null if the answer is what the agent's schema accepts, or if it is no last answer because it has calls. */
export async function checkOutput(
  { output }: TeamAgent,
  assembly: Pick<ResponseAssembly, 'heldText' | 'output'>,
  isCut: boolean,
): Promise<WrongTry | null> {
  if (output === null) return null;
  const text = assembly.heldText;
  if (isCut) return { text, problem: CUT_OFF };
  if (assembly.output.some(({ kind }) => kind === 'tool_call')) return null;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { text, problem: 'it is not JSON; write the JSON alone, without any other text' };
  }
  const checked = await output.check(value);
  return 'problem' in checked ? { text, problem: checked.problem } : null;
}

/** What the model receives after a wrong answer. Providers refuse a blank answer in a prompt. */
export function repairItems({ text, problem }: WrongTry): readonly PromptItem[] {
  const answer = text.trim() === '' ? [] : [{ kind: 'assistant' as const, text }];
  return [
    ...answer,
    { kind: 'user', text: `Your answer cannot be used: ${problem}. Answer again, with the JSON alone.` },
  ];
}
