import { Refusal } from '../../domain/refusal.ts';
import type { CompatibleCall } from './compatible-route.ts';

const MAX_BYTES = 32_768;

/** A request's text that instructs the agent, and the field that has it. */
export interface SentInstructions {
  readonly name: string;
  readonly text: string;
}

/**
 * Joins the texts that instruct the agent. If the integration does not allow them, they are left out and their fields are
 * noted as ignored. Returns null if there are none.
 */
export function callerInstructions(
  sent: readonly SentInstructions[],
  { settings, ignored, request }: Pick<CompatibleCall, 'settings' | 'ignored' | 'request'>,
): string | null {
  const given = sent.filter(({ text }) => text.trim() !== '');
  const [first] = given;
  if (first === undefined) return null;
  if (!settings.callerInstructions) {
    for (const { name } of given) ignored.add(name);
    return null;
  }
  if (request.clientToken !== null) {
    const sentence = `A client token does not permit the instructions in \`${first.name}\`; your backend sends them with an API key.`;
    throw new Refusal('token_forbidden', sentence);
  }
  const all = given.map(({ text }) => text).join('\n\n');
  if (Buffer.byteLength(all) <= MAX_BYTES) return all;
  const sentence = `\`${first.name}\`: instructions must have at most ${MAX_BYTES} bytes together.`;
  throw new Refusal('invalid_request', sentence);
}
