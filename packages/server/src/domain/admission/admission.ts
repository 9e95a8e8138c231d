import { isVisible, type MemberScope } from '../account/scope.ts';
import type { AttachmentRefresh } from '../attachment/attachment-refresh.ts';
import { countTextBytes, historyProblem, type ImportedTurn } from '../chat/imported-turn.ts';
import { type FileAccess, fileScope, isBelow } from '../file/file-access.ts';
import { type MountPath, wholePath } from '../file/mount-path.ts';
import type { ChatId, ChatKey, RunId } from '../ids.ts';
import type { ModelPrice } from '../model/prices.ts';
import type { ClientTool } from '../question/client-tool.ts';
import type { ArgumentChange, Continuation, RequestAnswer, Settlement } from '../question/question.ts';
import { parseQuestions } from '../question/question-json.ts';
import { listChanges, settleAgain, settleQuestions } from '../question/settle-questions.ts';
import { Refusal } from '../refusal.ts';
import { type RunSettings, runSettings } from '../run/admitted-run.ts';
import { NO_EXTRAS, type RunExtras } from '../run/run-extras.ts';
import {
  type AllowancePeriod,
  type AllowanceUnit,
  periodEndMs,
  periodStartMs,
  reservedAmount,
  usedAmount,
} from './allowance.ts';
import type { ChatRules } from './chat-rules.ts';

/**
 * The facts that one statement reads inside the admitting transaction. SQLite's rows are hash tables: a 43rd column doubles
 * this one, which is 1 % of what a short run allocates.
 */
export interface AdmissionFactsRow {
  agency: string;
  default_agent: string;
  text_only: number;
  allowance_unit: AllowanceUnit | null;
  allowance_limit: number | null;
  allowance_period: AllowancePeriod | null;
  max_runs_per_member: number | null;
  max_run_seconds: number;
  on_disconnect: 'continue' | 'cancel';
  keep_attachments: number;
  integration_model: string | null;
  file_access: FileAccess;
  member_folder: string;
  client_tools: number;
  caller_instructions: number;
  auto_register: number;
  member_active: number | null;
  member_limit: number | null;
  known_run_id: RunId | null;
  known_fingerprint: string | null;
  known_consumer_id: string | null;
  known_chat_id: ChatId | null;
  known_alias: string | null;
  known_chat_deleted_at: number | null;
  /** What the chat was called until a fork took over its id and alias. */
  known_former_chat_id: ChatId | null;
  known_former_alias: string | null;
  chat_key: ChatKey | null;
  chat_alias: string | null;
  chat_consumer_id: string | null;
  alias_chat_key: ChatKey | null;
  alias_chat_id: ChatId | null;
  alias_consumer_id: string | null;
  /** These are of the chat with the request's id, or else of the one with its alias. */
  chat_num_messages: number | null;
  chat_text_bytes: number | null;
  chat_questions_json: string | null;
  busy_run_id: RunId | null;
  busy_usage_request_id: string | null;
  /** 1 if the integration's runs have other ids since their member was erased. */
  has_erased_runs: number;
  /** 1 if the chat has earlier attachments without a copy, whose links may have expired. */
  files_without_copy: number;
  /** The sum of the days of the period; `usedAmount` makes what callers see of it. */
  used: number;
  reserved: number;
  member_active_runs: number;
}

/** The part of a checked request that decides about its admission. Blank ids are null. */
export interface AdmissionRequest {
  /** A client token's member. It must not learn about runs of other members. Null for the owner. */
  readonly member: MemberScope | null;
  readonly consumerId: string | null;
  readonly usageRequestId: string | null;
  readonly chatId: ChatId | null;
  readonly aliasChatId: string | null;
  readonly agent: string | null;
  readonly messageBytes: number;
  readonly fingerprint: string | null;
  readonly sandboxFiles: readonly { readonly below: MountPath }[];
  /** Null if the request has none. */
  readonly answers: readonly RequestAnswer[] | null;
  readonly clientTools: readonly ClientTool[];
  /** The refreshes, or their text's refusal, which is answered in its place in the order of checks. */
  readonly refreshes: readonly AttachmentRefresh[] | Refusal;
  /** Earlier turns that the caller brings into a new chat. */
  readonly history: readonly (ImportedTurn & { readonly attachments: readonly unknown[] })[];
  readonly extras: RunExtras;
  readonly chatRules: ChatRules;
  /** What became of the questions that the original run settled, or the refusal of the rerun. Absent in other requests. */
  readonly rerun?: { readonly settlements: readonly Settlement[] } | Refusal;
}

/** What admission knows about the integration's agency. */
export interface AdmissionAgency {
  /** Null if the agency does not exist, `broken` if it or one of its models cannot be used. */
  readonly entryPoints: readonly string[] | 'broken' | null;
  /** The tool names of all agents, as far as they are known: MCP servers list theirs when they are connected. */
  readonly toolNames: () => ReadonlySet<string>;
  /** Returns null if the agent's model has no price. */
  readonly price: (agent: string) => ModelPrice | null;
  /** True if the agency has lasting hand-offs. */
  readonly hasLasting: boolean;
  /** True if the agent's answers have a schema already. */
  readonly hasOutput: (agent: string) => boolean;
}

/** What admission has to look up before it can decide. The answer is a refusal, or null if nothing is wrong. */
export type AdmissionQuestion =
  /** The fork in which the request continues. Null if nothing follows the run in the chat: then the request continues there. */
  | { readonly ask: 'fork' }
  /** Do the schemas of the tools accept these arguments? */
  | { readonly ask: 'arguments'; readonly changes: readonly ArgumentChange[] }
  /** Do all sandbox files of the request exist? */
  | { readonly ask: 'files' }
  /** Are the links of earlier attachments valid? `chatKey` is null if the chat is new. */
  | { readonly ask: 'refreshes'; readonly chatKey: ChatKey | null }
  /** Which agent did a lasting hand-off choose in this chat? The answer is null if none did, or if none leads to it any more. */
  | { readonly ask: 'lasting'; readonly chatKey: ChatKey };

export interface LastingAgent {
  readonly lastingAgent: string;
}

export type AdmissionAnswer = Refusal | KnownChat | LastingAgent | null;

export interface Replay {
  readonly kind: 'replay';
  readonly runId: RunId;
  readonly chatId: ChatId;
  readonly textOnly: boolean;
}

export interface Admit extends RunSettings {
  readonly kind: 'admit';
  readonly agency: string;
  readonly agent: string;
  /** The agent that begins the run, if it is another one than `agent`. Otherwise null. */
  readonly begins: string | null;
  /** True if the chat decided `begins`: the chat may have changed before it was locked. */
  readonly readsLasting: boolean;
  readonly textOnly: boolean;
  /** Null if the chat is new. */
  readonly chat: Pick<KnownChat, 'chatKey' | 'chatId' | 'alias' | 'knownAlias' | 'questionsJson'> | null;
  /** Null if the chat has no open questions. */
  readonly continuation: Continuation | null;
  readonly hasHistory: boolean;
  /** True if the request's member is registered with the run. */
  readonly registersMember: boolean;
  readonly held: number;
  readonly unit: AllowanceUnit | null;
  readonly period: AllowancePeriod | null;
  readonly periodStart: number | null;
}

export type AdmissionDecision = { readonly kind: 'refuse'; readonly refusal: Refusal } | Replay | Admit;

const refuse = (...args: ConstructorParameters<typeof Refusal>): AdmissionDecision => ({
  kind: 'refuse',
  refusal: new Refusal(...args),
});

/** What admission needs for its decision, besides the stored facts and the request. */
export interface AdmissionSetting {
  readonly nowMs: number;
  /** `RUNWIRE_RESERVE_TOKENS`. */
  readonly reserveTokens: number;
  /** True if the request continues in a fork; a refusal if it names an unknown run. */
  readonly forks: boolean | Refusal;
  /** Called after the questions are answered. */
  readonly load: () => { readonly shuttingDown: boolean; readonly full: boolean };
}

/**
 * The order of checks (`contract-4-order`) from "400 attribution" on: the first failure wins. It yields a question when
 * all checks before it have passed, and continues with the answer. Pure: the same facts and answers give the same
 * decision, however often the transaction is tried.
 */
export function* decideAdmission(
  facts: AdmissionFactsRow,
  agency: AdmissionAgency,
  request: AdmissionRequest,
  setting: AdmissionSetting,
): Generator<AdmissionQuestion, AdmissionDecision, AdmissionAnswer> {
  const allowances = facts.allowance_unit !== null;
  if (allowances && (request.consumerId === null || request.usageRequestId === null)) {
    const missing = request.consumerId === null ? 'consumerId' : 'usageRequestId';
    return refuse(
      'missing_allowance_attribution',
      `\`${missing}\` is missing: member allowances are enabled for this integration, so every request must name its member and carry a unique usage request id.`,
    );
  }

  // `contract-4-replay-first`: nothing about member, chat, agent, files, allowance or load is checked before the replay.
  if (facts.known_run_id !== null) return decideReplay(facts, facts.known_run_id, request);
  const { rerun } = request;
  if (rerun instanceof Refusal) return { kind: 'refuse', refusal: rerun };

  const isUnknown = request.consumerId !== null && facts.member_active === null;
  const registersMember = isUnknown && request.chatRules.registersMember && facts.auto_register === 1;
  if (request.consumerId !== null) {
    if (facts.member_active === null && !registersMember) {
      return refuse(
        'member_not_found',
        'This `consumerId` is not a member of the integration; register it with PUT …/members/{consumerId} first.',
      );
    }
    if (facts.member_active === 0) return refuse('consumer_inactive');
  }

  const known = decideChat(facts, request);
  if (known instanceof Refusal) return { kind: 'refuse', refusal: known };
  if (setting.forks instanceof Refusal) return { kind: 'refuse', refusal: setting.forks };
  if (known === null && request.chatId !== null && request.chatRules.mustExist) return refuse('chat_not_found');
  const fork = setting.forks ? yield { ask: 'fork' } : null;
  if (fork instanceof Refusal) return { kind: 'refuse', refusal: fork };
  const chat = fork !== null && 'chatKey' in fork ? fork : known;
  const noHistory = request.history.length === 0 ? null : refuseHistory(request, chat);
  if (noHistory !== null) return noHistory;

  const open = parseQuestions(chat?.questionsJson ?? null);
  const continuation =
    rerun === undefined
      ? settleQuestions(open, request.answers, request.chatRules.answersAll)
      : settleAgain(open, rerun.settlements);
  if (continuation instanceof Refusal) return { kind: 'refuse', refusal: continuation };
  const changes = listChanges(open, request.answers);
  if (changes.length > 0) {
    const refusal = yield { ask: 'arguments', changes };
    if (refusal instanceof Refusal) return { kind: 'refuse', refusal };
  }

  const { entryPoints } = agency;
  const isAsking = open !== null && Array.isArray(entryPoints) && entryPoints.includes(open.agent);
  const asking = isAsking ? open.agent : null;
  const agent = request.agent ?? asking ?? facts.default_agent;
  const noAgent = refuseAgent(facts.agency, agent, entryPoints) ?? refuseOtherAgent(agent, asking);
  if (noAgent !== null) return noAgent;
  // A run that answers questions begins as the asking run did, so that it follows the same steps.
  const given = (continuation === null ? request.extras.begins : open?.begins) ?? null;
  const readsLasting = agency.hasLasting && chat !== null && continuation === null && request.agent === null;
  const lasting = readsLasting ? yield { ask: 'lasting', chatKey: chat.chatKey } : null;
  const first = lasting !== null && 'lastingAgent' in lasting ? lasting.lastingAgent : (given ?? agent);
  const noTools = refuseTools(facts, request.clientTools, agency);
  if (noTools !== null) return noTools;
  const noExtras = request.extras === NO_EXTRAS ? null : refuseExtras(facts, request.extras, agency, first);
  if (noExtras !== null) return noExtras;

  const files = fileScope(facts.file_access, facts.member_folder, request.consumerId);
  const { memberFolder } = files;
  const outside = request.sandboxFiles.find(({ below }) => memberFolder !== null && !isBelow(below, memberFolder));
  if (outside !== undefined) return { kind: 'refuse', refusal: missingFileRefusal(outside.below) };
  if (request.sandboxFiles.length > 0) {
    const refusal = yield { ask: 'files' };
    if (refusal instanceof Refusal) return { kind: 'refuse', refusal };
  }

  if (request.refreshes instanceof Refusal) return { kind: 'refuse', refusal: request.refreshes };
  if (request.refreshes.length > 0 || facts.files_without_copy === 1 || fork !== null) {
    const refusal = yield { ask: 'refreshes', chatKey: chat?.chatKey ?? null };
    if (refusal instanceof Refusal) return { kind: 'refuse', refusal };
  }

  const { shuttingDown, full } = setting.load();
  if (shuttingDown) return refuse('shutting_down', undefined, {}, 1);
  if (entryPoints === 'broken') return refuse('agency_unavailable', undefined, {}, BROKEN_RETRY_SECONDS);
  if (full) {
    const sentence = 'The server has reached its limit of active runs; send the request again in a moment.';
    return refuse('unavailable', sentence, {}, 1);
  }

  if (chat !== null && facts.busy_run_id !== null) {
    return refuse('run_active', undefined, {
      runId: facts.busy_run_id,
      usageRequestId: facts.busy_usage_request_id,
      chatId: chat.chatId,
    });
  }

  const unit = facts.allowance_unit;
  const period = facts.allowance_period;
  if (unit !== null && period !== null) {
    const limit = facts.member_limit ?? facts.allowance_limit ?? 0;
    const used = usedAmount(facts.used);
    if (used + facts.reserved >= limit) return refuseExhausted(used >= limit, period, setting.nowMs);
  }

  if (facts.max_runs_per_member !== null && request.consumerId !== null) {
    if (facts.member_active_runs >= facts.max_runs_per_member) return refuse('too_many_runs', undefined, {}, 1);
  }

  const textBytes = request.messageBytes + (chat?.textBytes ?? countTextBytes(request.history));
  return {
    kind: 'admit',
    agency: facts.agency,
    agent,
    begins: first === agent ? null : first,
    readsLasting,
    textOnly: facts.text_only === 1,
    ...runSettings(facts, files, request),
    chat,
    continuation,
    hasHistory: chat === null ? request.history.length > 0 : chat.numMessages > 0,
    registersMember,
    held:
      unit === null
        ? 0
        : reservedAmount({
            unit,
            textBytes,
            reserveTokens: setting.reserveTokens,
            price: agency.price(first),
          }),
    unit,
    period,
    periodStart: period === null ? null : periodStartMs(period, setting.nowMs),
  };
}

export const missingFileRefusal = (missing: MountPath): Refusal =>
  new Refusal(
    'sandbox_file_not_found',
    `The sandbox file \`${wholePath(missing)}\` was not uploaded; upload it first and send the \`resource\` of the signed form as \`path\`.`,
  );

/** An operator has to fix the agency. */
export const BROKEN_RETRY_SECONDS = 60;

function refuseAgent(
  agency: string,
  agent: string,
  known: readonly string[] | 'broken' | null,
): AdmissionDecision | null {
  if (known === null) return refuse('unknown_agency', `The integration's agency \`${agency}\` does not exist.`);
  // The agent cannot be checked. A later check refuses the request.
  if (known === 'broken' || known.includes(agent)) return null;
  const names = known.map((name) => `\`${name}\``).join(', ');
  return refuse('unknown_agent', `\`agent\` is not an entry point of this agency; use one of: ${names}.`);
}

/** Only the agent that asked can continue. */
function refuseOtherAgent(agent: string, asking: string | null): AdmissionDecision | null {
  if (asking === null || agent === asking) return null;
  const sentence = `\`agent\` must be \`${asking}\` or absent: this chat has open questions of that agent.`;
  return refuse('invalid_request', sentence);
}

function refuseTools(
  { client_tools: allowed }: AdmissionFactsRow,
  tools: readonly ClientTool[],
  { toolNames }: AdmissionAgency,
): AdmissionDecision | null {
  if (tools.length === 0) return null;
  if (allowed !== 1) {
    const sentence =
      '`clientTools` is not allowed by this integration; set its `clientTools` to true, or leave them out.';
    return refuse('invalid_request', sentence);
  }
  const known = toolNames();
  const place = tools.findIndex(({ name }) => known.has(name));
  if (place === -1) return null;
  const { name } = tools[place] as ClientTool;
  return refuse('invalid_request', `\`clientTools[${place}].name\` is \`${name}\`, a tool of the agents; rename it.`);
}

function refuseHistory(
  { chatRules, member, history }: AdmissionRequest,
  chat: KnownChat | null,
): AdmissionDecision | null {
  if (chat !== null) return chatRules.historyIfNew ? null : refuse('chat_not_empty');
  // The schema of our own `history` has these limits.
  const problem = chatRules.historyIfNew ? historyProblem(history) : null;
  if (problem !== null) return refuse('invalid_request', problem);
  if (member === null) return null;
  const sentence = 'A client token cannot begin a chat with earlier messages (`history`); your backend can do it.';
  return refuse('token_forbidden', sentence);
}

function refuseExtras(
  { caller_instructions: allowed }: AdmissionFactsRow,
  { instructions, outputSchema, rerun }: RunExtras,
  { hasOutput }: AdmissionAgency,
  agent: string,
): AdmissionDecision | null {
  if (instructions !== null && allowed !== 1) {
    const sentence =
      '`instructions` are not allowed by this integration; set its `callerInstructions` to true, or leave them out.';
    return refuse('invalid_request', sentence);
  }
  // An agent that is alone has no schema.
  if (outputSchema === null || rerun?.eval?.alone === true || !hasOutput(agent)) return null;
  const sentence = `The agent \`${agent}\` has a schema for its answers already; leave out the request's schema.`;
  return refuse('invalid_request', sentence);
}

function decideReplay(facts: AdmissionFactsRow, runId: RunId, request: AdmissionRequest): AdmissionDecision {
  const { chatId, aliasChatId } = request;
  const sameBody =
    facts.known_fingerprint === request.fingerprint &&
    facts.known_chat_deleted_at === null &&
    // `contract-4-same-body-chat`: a chat id or alias that names the run's own chat does not make another body. A fork may have
    // taken over both since then.
    (chatId === null || chatId === facts.known_chat_id || chatId === facts.known_former_chat_id) &&
    (aliasChatId === null || aliasChatId === facts.known_alias || aliasChatId === facts.known_former_alias);
  if (sameBody && facts.known_chat_id !== null) {
    return { kind: 'replay', runId, chatId: chatId ?? facts.known_chat_id, textOnly: facts.text_only === 1 };
  }
  if (!isVisible(request.member, facts.known_consumer_id, facts.known_chat_id))
    return refuse('usage_request_id_reused');
  const why =
    facts.known_chat_deleted_at !== null
      ? 'the chat of that request was deleted'
      : 'with another body: use a new id for a new request, or send exactly the first body again';
  return refuse('usage_request_id_reused', `\`usageRequestId\` was used before, by run ${runId}, ${why}.`, { runId });
}

export interface KnownChat {
  readonly chatKey: ChatKey;
  readonly chatId: ChatId;
  /** The alias that the chat gets, or null. */
  readonly alias: string | null;
  /** The alias that the chat has, or null. */
  readonly knownAlias: string | null;
  readonly numMessages: number;
  readonly textBytes: number;
  readonly questionsJson: string | null;
}

/** Returns null if the request starts a new chat. */
function decideChat(facts: AdmissionFactsRow, request: AdmissionRequest): KnownChat | Refusal | null {
  const foreign = (owner: string | null) => owner !== request.consumerId;
  if (facts.chat_key !== null && foreign(facts.chat_consumer_id)) return new Refusal('chat_not_found');
  if (facts.alias_chat_key !== null && foreign(facts.alias_consumer_id)) return new Refusal('chat_not_found');

  const contents = {
    numMessages: facts.chat_num_messages ?? 0,
    textBytes: facts.chat_text_bytes ?? 0,
    questionsJson: facts.chat_questions_json,
  };
  if (facts.chat_key !== null && request.chatId !== null) {
    if (facts.alias_chat_key !== null && facts.alias_chat_key !== facts.chat_key) {
      return new Refusal('invalid_request', '`aliasChatId` and `chatId` name different chats; send only one of them.');
    }
    const bindsAnother = request.aliasChatId !== null && facts.alias_chat_key === null && facts.chat_alias !== null;
    if (bindsAnother) {
      return new Refusal(
        'invalid_request',
        'The chat of `chatId` has another alias than `aliasChatId`; send only `chatId`.',
      );
    }
    return {
      chatKey: facts.chat_key,
      chatId: request.chatId,
      alias: facts.chat_alias === null ? request.aliasChatId : null,
      knownAlias: facts.chat_alias,
      ...contents,
    };
  }
  if (facts.alias_chat_key !== null && facts.alias_chat_id !== null) {
    if (request.chatId !== null) {
      return new Refusal('invalid_request', '`aliasChatId` and `chatId` name different chats; send only one of them.');
    }
    return {
      chatKey: facts.alias_chat_key,
      chatId: facts.alias_chat_id,
      alias: null,
      knownAlias: request.aliasChatId,
      ...contents,
    };
  }
  return null;
}

/**
 * `contract-6-429`: `Retry-After` is 1 if only reservations fill the allowance. Otherwise it counts to the end of the
 * period; a `lifetime` allowance has none, and its `resetAt` is null.
 */
function refuseExhausted(spent: boolean, period: AllowancePeriod, nowMs: number): AdmissionDecision {
  const end = periodEndMs(period, nowMs);
  const resetAt = end === null ? null : new Date(end).toISOString();
  const untilReset = end === null ? null : Math.max(1, Math.ceil((end - nowMs) / 1000));
  return refuse(
    'consumer_allowance_exhausted',
    spent
      ? 'This member has used up the current allowance; wait for `resetAt`, or raise the limit.'
      : 'The active runs of this member reserve the rest of the allowance; try again after one of them has ended.',
    { resetAt },
    spent ? untilReset : 1,
  );
}
