import { isTooDeep } from '@runwire/models';
import type { GuardrailPosition } from '../domain/run/guardrail-record.ts';

/** What a guardrail's code decided. */
export type Verdict =
  | { readonly kind: 'pass' }
  | { readonly kind: 'block'; readonly reason: string }
  | { readonly kind: 'replace'; readonly value: unknown }
  | { readonly kind: 'ask' };

const MAX_REASON_CHARACTERS = 10_000;
const MAX_VALUE_CHARACTERS = 4 * 1024 * 1024;

/**
 * Reads what a check returned. `problem` continues a sentence about the check. It never contains what was returned, because
 * the sentence is shown and logged.
 */
export function readVerdict(position: GuardrailPosition, returned: unknown): Verdict | { readonly problem: string } {
  if (typeof returned !== 'object' || returned === null) return { problem: `returned ${describeForms(position)}` };
  const fields = Object.keys(returned);
  const { pass, block, replace, ask } = returned as Readonly<Record<string, unknown>>;
  if (fields.length !== 1) return { problem: `returned ${describeForms(position)}` };
  switch (fields[0]) {
    case 'pass':
      return pass === true ? { kind: 'pass' } : { problem: 'returned `pass` with another value than true' };
    case 'block':
      return readReason(block);
    case 'replace':
      return position === 'toolCall' ? readArguments(replace) : readText(replace);
    case 'ask':
      if (position !== 'toolCall') return { problem: `returned \`ask\`, which only a guardrail on toolCall can` };
      return ask === true ? { kind: 'ask' } : { problem: 'returned `ask` with another value than true' };
    default:
      return { problem: `returned ${describeForms(position)}` };
  }
}

function describeForms(position: GuardrailPosition): string {
  const ask = position === 'toolCall' ? ', `{ask: true}`' : '';
  return `something else than \`{pass: true}\`${ask}, \`{block: reason}\` or \`{replace: value}\``;
}

function readReason(block: unknown): Verdict | { readonly problem: string } {
  if (typeof block !== 'string' || block.trim() === '') return { problem: 'returned `block` without a reason' };
  if (block.length > MAX_REASON_CHARACTERS)
    return { problem: `returned a reason with more than ${MAX_REASON_CHARACTERS} characters` };
  return { kind: 'block', reason: block };
}

function readText(value: unknown): Verdict | { readonly problem: string } {
  if (typeof value !== 'string') return { problem: 'returned `replace` with a value that is no text' };
  if (value.length > MAX_VALUE_CHARACTERS) return { problem: 'returned `replace` with more than 4 Mi characters' };
  return { kind: 'replace', value };
}

/** The value is what JSON keeps of it, as if the model had written it. */
function readArguments(value: unknown): Verdict | { readonly problem: string } {
  const problem = 'returned `replace` with a value that is no JSON object';
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return { problem };
  let text: string | undefined;
  try {
    text = JSON.stringify(value);
  } catch {
    return { problem };
  }
  if (typeof text !== 'string' || !text.startsWith('{') || isTooDeep(text)) return { problem };
  if (text.length > MAX_VALUE_CHARACTERS) return { problem: 'returned `replace` with more than 4 Mi characters' };
  return { kind: 'replace', value: JSON.parse(text) as unknown };
}
