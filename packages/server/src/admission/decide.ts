import type { FairBudget, Hold } from '@runwire/lib/fair-budget.ts';
import type { Agencies } from '../agencies/agencies.ts';
import type { LoadedAgency } from '../agencies/loaded-agency.ts';
import type { ErasedIds } from '../domain/account/erased-ids.ts';
import {
  type AdmissionAgency,
  type AdmissionFactsRow,
  type AdmissionQuestion,
  type AdmissionRequest,
  type Admit,
  decideAdmission,
  type KnownChat,
  type Replay,
} from '../domain/admission/admission.ts';
import type { Prices } from '../domain/model/prices.ts';
import type { ArgumentChange } from '../domain/question/question.ts';
import { Refusal } from '../domain/refusal.ts';
import { admissionFacts } from '../store/queries/admission.ts';
import { periodDays } from '../store/queries/allowance.ts';
import { first, type Reads } from '../store/store.ts';
import type { CompletionRequest } from './completion-request.ts';
import { refreshesRefusal } from './earlier-urls.ts';
import { type ForkStart, findStart, namesRun } from './find-start.ts';
import { readLasting } from './read-lasting.ts';

export interface DecideDeps {
  readonly agencies: Agencies;
  readonly ids: ErasedIds;
  readonly prices: Prices;
  readonly isShuttingDown: () => boolean;
  /** Active runs of this node, by owner: a request holds a slot from its decision until its run has started. */
  readonly runSlots: FairBudget;
  /** The names of the tools of the agency's MCP servers that are known now. */
  readonly mcpToolNames: (agency: string) => ReadonlySet<string>;
  /** `RUNWIRE_RESERVE_TOKENS`. */
  readonly reserveTokens: number;
}

export interface DecideOptions {
  /** Reserved if the decision is to admit; null if nothing is reserved yet. */
  readonly slot: Hold | null;
  /** Answers whether the tools of the agency accept changed arguments. */
  readonly checkArguments: (agency: LoadedAgency, changes: readonly ArgumentChange[]) => Promise<Refusal | null>;
  /** Answers whether the request's sandbox files exist. `'enough'` stops here: no later check is made. */
  readonly files: () => Promise<Refusal | null | 'enough'>;
  /** Makes the fork in which the request continues. Null in a check before the transaction, which stops there. */
  readonly fork: ((start: ForkStart) => Promise<KnownChat | null>) | null;
}

export interface TimedDecision {
  /** Null if `files` answered `'enough'`. */
  readonly decision: Admit | Replay | null;
  readonly now: number;
  /** The version of the agency that was checked; null if it does not exist or is broken. */
  readonly agency: LoadedAgency | null;
}

/** Reads the facts and decides with them. Throws the refusal if the decision is one. */
export async function decide(
  deps: DecideDeps,
  reads: Reads,
  request: CompletionRequest,
  { slot, checkArguments, files, fork }: DecideOptions,
): Promise<TimedDecision> {
  const now = Date.now();
  const { ownerId, integrationId, consumerId, usageRequestId, chatId, aliasChatId } = request;
  const named = { integrationId, consumerId, chatId, aliasChatId, ...periodDays(now) };
  const factsFor = (id: string | null) => first(reads.all(admissionFacts, { ...named, usageRequestId: id }));
  let facts = await factsFor(usageRequestId);
  if (usageRequestId !== null && facts?.known_run_id === null && facts.has_erased_runs === 1) {
    facts = await factsFor(deps.ids.usageRequest(integrationId, usageRequestId));
  }
  if (facts === undefined) throw new Refusal('integration_not_found');
  if (request.rerun !== undefined) facts = toRerunFacts(facts, request.rerun);
  const agency = deps.agencies.find(facts.agency)?.loaded ?? null;
  const start = facts.known_run_id === null && namesRun(request) ? await findStart(reads, request, facts) : null;
  let decided: AdmissionRequest = request;
  if (start !== null && 'chatId' in start) {
    decided = { ...request, chatId: start.chatId };
    facts = (await first(reads.all(admissionFacts, { ...named, usageRequestId, chatId: start.chatId }))) ?? facts;
  }
  const forking = start !== null && 'point' in start ? start : null;
  const deciding = decideAdmission(facts, admissionAgency(deps, facts), decided, {
    nowMs: now,
    forks: start instanceof Refusal ? start : forking !== null,
    reserveTokens: deps.reserveTokens,
    load: () => ({
      shuttingDown: deps.isShuttingDown(),
      full: slot?.amount !== 1 && !deps.runSlots.fits(ownerId, 1),
    }),
  });
  const answerTo = (question: AdmissionQuestion) => {
    if (question.ask === 'refreshes') return refreshesRefusal(reads, question.chatKey, request.refreshes, now);
    // The tools of a broken agency are not known; a later check refuses the request.
    if (question.ask === 'arguments') return agency === null ? null : checkArguments(agency, question.changes);
    if (question.ask === 'lasting') return readLasting(reads, agency, question.chatKey);
    if (question.ask === 'files' || forking === null) return files();
    return fork === null ? stopAtFork(request, files) : fork(forking);
  };
  let step = deciding.next();
  while (step.done !== true) {
    const answer = await answerTo(step.value);
    if (answer === 'enough') return { decision: null, now, agency };
    step = deciding.next(answer);
  }
  const decision = step.value;
  if (decision.kind === 'refuse') throw decision.refusal;
  // The slot is taken in the same turn in which it was found free: other requests decide concurrently.
  if (decision.kind === 'admit' && slot?.amount === 0) slot.grow(1);
  return { decision, now, agency };
}

/** A rerun uses no allowance, counts for no limit, and needs no member and no permission of the integration. */
function toRerunFacts(facts: AdmissionFactsRow, rerun: NonNullable<CompletionRequest['rerun']>): AdmissionFactsRow {
  const { agency, model } = rerun instanceof Refusal ? { agency: facts.agency, model: null } : rerun;
  return {
    ...facts,
    agency,
    integration_model: model ?? facts.integration_model,
    ...{ allowance_unit: null, allowance_limit: null, allowance_period: null, max_runs_per_member: null },
    ...{ member_active: 1, client_tools: 1, caller_instructions: 1 },
  };
}

/** A check before the transaction makes no fork. It looks up the files, because the transaction does not. */
async function stopAtFork({ sandboxFiles }: CompletionRequest, files: DecideOptions['files']) {
  return (sandboxFiles.length === 0 ? null : await files()) ?? 'enough';
}

function admissionAgency(
  { agencies, prices, mcpToolNames }: DecideDeps,
  { agency, integration_model: ofIntegration }: AdmissionFactsRow,
): AdmissionAgency {
  return {
    // A key or a provider may have been removed since the agency was loaded or the integration was changed.
    entryPoints: agencies.hasModels(agency, ofIntegration) ? agencies.entryPoints(agency) : 'broken',
    hasLasting: (agencies.find(agency)?.loaded?.lastingAgents.size ?? 0) > 0,
    toolNames: () => agencies.allToolNames(agency).union(mcpToolNames(agency)),
    hasOutput: (agent) => (agencies.agent(agency, agent)?.output ?? null) !== null,
    price: (agent) => {
      const model = agencies.entryModel(agency, agent, ofIntegration);
      return (model === null ? undefined : prices.models.get(model)) ?? null;
    },
  };
}
