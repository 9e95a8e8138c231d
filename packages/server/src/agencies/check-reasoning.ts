import type { AgentDefinition, Reasoning } from '@runwire/agency';
import { StartRefused } from '../domain/start-refused.ts';

const VALUES: { readonly [Field in keyof Required<Reasoning>]: readonly Required<Reasoning>[Field][] } = {
  effort: ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'],
  summary: ['auto', 'concise', 'detailed'],
};

/** Throws one sentence about the first value of an agent's `reasoning` that no model supports. */
export function checkReasoning(agency: string, { name, reasoning }: AgentDefinition): void {
  if (reasoning === undefined) return;
  const where = `The \`reasoning\` of agent \`${name}\` of agency \`${agency}\``;
  if (typeof reasoning !== 'object' || reasoning === null || Array.isArray(reasoning)) {
    throw new StartRefused(`${where} is not an object; write \`{ effort, summary }\`, or one of the two fields.`);
  }
  for (const [field, value] of Object.entries(reasoning)) {
    const known: readonly string[] | undefined = Object.hasOwn(VALUES, field)
      ? VALUES[field as keyof typeof VALUES]
      : undefined;
    if (known === undefined) {
      throw new StartRefused(`${where} has an unknown field \`${field}\`; use only \`effort\` and \`summary\`.`);
    }
    if (value !== undefined && !known.includes(value)) {
      throw new StartRefused(`${where} has an unknown \`${field}\`: set it to ${inWords(known)}.`);
    }
  }
}

function inWords(values: readonly string[]): string {
  const quoted = values.map((value) => `\`${value}\``);
  return `${quoted.slice(0, -1).join(', ')} or ${quoted.at(-1)}`;
}
