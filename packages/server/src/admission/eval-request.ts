import type { Agencies } from '../agencies/agencies.ts';
import { OWN_CHAT_RULES } from '../domain/admission/chat-rules.ts';
import { Refusal } from '../domain/refusal.ts';
import type { EvalSettings } from '../domain/run/rerun.ts';
import { checkExtras, NO_EXTRAS, type RunExtras } from '../domain/run/run-extras.ts';
import { integrationById } from '../store/queries/accounts.ts';
import { first, type Reads } from '../store/store.ts';
import type { CompletionRequest } from './completion-request.ts';
import { checkModel } from './rerun-request.ts';

/** How a run for an eval differs from other runs. */
export interface EvalRun {
  readonly agency: string | null;
  readonly model: string | null;
  /** Replace the root agent's own. */
  readonly instructions: string | null;
  readonly outputSchema: RunExtras['outputSchema'];
  readonly settings: EvalSettings;
}

interface EvalDeps {
  readonly reads: Reads;
  readonly agencies: Agencies;
}

/**
 * Makes the request a rerun without an original. A refusal is part of the request, because a replay is answered before it.
 */
export async function readEval(
  { reads, agencies }: EvalDeps,
  request: CompletionRequest,
  { agency: named, model, instructions, outputSchema, settings }: EvalRun,
): Promise<CompletionRequest> {
  const integration = await first(reads.all(integrationById, { integrationId: request.integrationId }));
  if (integration === undefined) throw new Refusal('integration_not_found');
  const agency = named ?? integration.agency;
  // The integration's default agent belongs to its own agency.
  const ofAgency = agency === integration.agency ? null : (agencies.find(agency)?.loaded?.defaultAgent ?? null);
  const agent = request.agent ?? ofAgency;
  const extras: RunExtras = {
    ...NO_EXTRAS,
    outputSchema,
    rerun: { of: null, afterStep: 0, tools: 'recorded', model, instructions, eval: settings },
  };
  const asEval = { ...request, agent, extras, chatRules: { ...OWN_CHAT_RULES, isTransient: true } };
  const wrong = checkExtras(extras) ?? modelRefusal(agencies, agency, agent ?? integration.default_agent, model);
  return { ...asEval, rerun: wrong ?? { from: null, agency, model, settlements: [] } };
}

function modelRefusal(agencies: Agencies, agency: string, agent: string, model: string | null): Refusal | null {
  try {
    checkModel(agencies, agency, agent, model);
    return null;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return error;
  }
}
