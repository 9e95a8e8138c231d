import type { Operation } from '@runwire/contract/schemas';
import { memberName } from '@runwire/lib/member-name.ts';
import { Refusal } from '../domain/refusal.ts';

interface Parameter {
  readonly type?: string;
}

/**
 * Below `/v2` every query parameter must be known, must be sent once, and numbers must be decimal digits. If a misspelt
 * filter were ignored, the answer would contain the records of all members.
 */
export function checkQuery(operation: Operation, query: unknown): void {
  if (!operation.path.startsWith('/v2/')) return;
  const known = (operation.query as { properties?: Record<string, Parameter> } | undefined)?.properties ?? {};
  for (const [name, value] of Object.entries(query as Record<string, string | string[]>)) {
    const parameter = Object.hasOwn(known, name) ? known[name] : undefined;
    const shown = `\`${memberName(name)}\``;
    if (parameter === undefined) {
      throw new Refusal('invalid_request', `${shown} is not a query parameter of this operation; ${hint(known)}.`);
    }
    if (parameter.type === 'array') continue;
    if (Array.isArray(value)) {
      throw new Refusal('invalid_request', `${shown} is given more than once in the query; send it once.`);
    }
    if (parameter.type === 'integer' && !/^\d+$/.test(value)) {
      throw new Refusal('invalid_request', `${shown} must be a number in decimal digits.`);
    }
  }
}

function hint(known: Readonly<Record<string, Parameter>>): string {
  const names = Object.keys(known).map((name) => `\`${name}\``);
  return names.length === 0 ? 'it takes none' : `it takes ${names.join(', ')}`;
}
