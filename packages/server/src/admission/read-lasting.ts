import type { LoadedAgency } from '../agencies/loaded-agency.ts';
import type { LastingAgent } from '../domain/admission/admission.ts';
import type { ChatKey } from '../domain/ids.ts';
import { newestState } from '../store/queries/chat-states.ts';
import { first, type Reads } from '../store/store.ts';

/** Returns null if no lasting hand-off of the chat counts: the agency has none that leads to the agent any more. */
export async function readLasting(
  reads: Reads,
  agency: LoadedAgency | null,
  chatKey: ChatKey,
): Promise<LastingAgent | null> {
  const agent = (await first(reads.all(newestState, { chatKey })))?.agent ?? null;
  return agent !== null && agency?.lastingAgents.has(agent) === true ? { lastingAgent: agent } : null;
}
