import { Refusal } from '../../domain/refusal.ts';
import type { CompatibleCall } from './compatible-route.ts';

const MAX_BYTES = 32_768;

/** A text of a request that instructs the agent, and the field that has it. */
export interface SentInstructions {
  readonly field: string;
  readonly text: string;
}

/**
 * Joins the texts that instruct the agent. If the integration does not allow them, they are left out and their fields are
 * noted as ignored. Returns null if there are none.
 */
export function callerInstructions(
  { request, settings, ignored }: Pick<CompatibleCall, 'request' | 'settings' | 'ignored'>,
  sent: readonly SentInstructions[],
): string | null {
  const given = sent.filter(({ text }) => text.trim() !== '');
  if (given.length === 0) return null;
  if (!settings.callerInstructions) {
    for (const { field } of given) ignored.add(field);
    return null;
  }
  if (request.clientToken !== null) {
    const sentence = `A client token permits no instructions, which \`${given[0]?.field}\` has; your backend sends them with an API key.`;
    throw new Refusal('token_forbidden', sentence);
  }
  const text = given.map((one) => one.text).join('\n\n');
  if (Buffer.byteLength(text) <= MAX_BYTES) return text;
  throw new Refusal('invalid_request', `The instructions of a request must have at most ${MAX_BYTES} bytes together.`);
}
