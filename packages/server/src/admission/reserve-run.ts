import { registerMember } from '../accounts/register-member.ts';
import { type LoadedAgency, needsState, usesSandbox } from '../agencies/loaded-agency.ts';
import { referToBlob, type StoredBlobs } from '../attachments/attachment-blobs.ts';
import { insertAttachments, isInline, isInlineFile } from '../attachments/request-attachment.ts';
import { storeImported } from '../chats/store-imported.ts';
import type { Admit } from '../domain/admission/admission.ts';
import { toDay } from '../domain/admission/allowance.ts';
import type { StoredAttachment } from '../domain/attachment/attachment.ts';
import { countMessages, countTextBytes } from '../domain/chat/imported-turn.ts';
import { type ChatKey, newChatKey, newId, newRunId, ownChatId, type RunId } from '../domain/ids.ts';
import type { Continuation, Settlement } from '../domain/question/question.ts';
import { parseQuestions } from '../domain/question/question-json.ts';
import { toStoredAnswer } from '../domain/question/settle-questions.ts';
import { Refusal } from '../domain/refusal.ts';
import { type AdmittedRun, admittedRun } from '../domain/run/admitted-run.ts';
import type { Meta, RunEvent } from '../domain/run/events.ts';
import { NO_EXTRAS, toExtrasJson } from '../domain/run/run-extras.ts';
import {
  JOURNAL_FORMAT,
  JOURNAL_FORMAT_WITH_ACTIONS,
  JOURNAL_FORMAT_WITH_CHANGES,
  JOURNAL_FORMAT_WITH_CONDITIONS,
  JOURNAL_FORMAT_WITH_EVALS,
  JOURNAL_FORMAT_WITH_EXTRAS,
  JOURNAL_FORMAT_WITH_FLOWS,
  JOURNAL_FORMAT_WITH_GUARDRAILS,
  JOURNAL_FORMAT_WITH_LASTING,
  JOURNAL_FORMAT_WITH_RERUNS,
  JOURNAL_FORMAT_WITH_STATE,
  JOURNAL_FORMAT_WITH_URLS,
} from '../domain/run/step.ts';
import { encodeChunk } from '../eventlog/chunk-codec.ts';
import { claimBlobs } from '../files/pending-blobs.ts';
import { insertActiveRun, NO_MEMBER } from '../store/queries/active-runs.ts';
import {
  bindAlias,
  growChat,
  insertChat,
  insertMessage,
  insertRun,
  insertTransientChat,
  storeExtras,
} from '../store/queries/admission.ts';
import { settleAskedQuestion } from '../store/queries/asked-questions.ts';
import { freeBlob } from '../store/queries/attachments.ts';
import { insertChunk } from '../store/queries/eventlog.ts';
import { announceFile, storedPath } from '../store/queries/files.ts';
import { insertTransientMark } from '../store/queries/transient-chats.ts';
import type { Tx } from '../store/store.ts';
import { FactsChanged } from './check-member.ts';
import type { CompletionRequest } from './completion-request.ts';
import { applyRefreshes, refreshesRefusal } from './earlier-urls.ts';
import { isEval } from './find-start.ts';
import { readLasting } from './read-lasting.ts';
import { storeEval, storeOriginal, toResumePoint } from './store-rerun.ts';

export interface Reservation {
  readonly request: CompletionRequest;
  readonly decision: Admit;
  readonly agency: LoadedAgency | null;
  /** The request's inline images. */
  readonly blobs: StoredBlobs;
  readonly nodeId: string;
  /** True if nodes of the version before are alive: they expect that T1 stores `meta`. */
  readonly storesMeta: boolean;
  readonly now: number;
}

function journalFormat(reservation: Reservation): number {
  const { agency, decision } = reservation;
  if (agency?.isConditional === true) return JOURNAL_FORMAT_WITH_CONDITIONS;
  if (decision.begins !== null) return JOURNAL_FORMAT_WITH_LASTING;
  return [...(agency?.agents.values() ?? [])].some(needsState) ? JOURNAL_FORMAT_WITH_STATE : otherFormat(reservation);
}

function otherFormat({ request, decision, agency }: Reservation): number {
  const { history, extras } = request;
  const agents = [...(agency?.agents.values() ?? [])];
  if (agents.some(({ guardrails }) => guardrails !== null)) return JOURNAL_FORMAT_WITH_GUARDRAILS;
  const changes = decision.continuation?.settlements.some((one) => 'argumentsText' in one) === true;
  if (changes) return JOURNAL_FORMAT_WITH_CHANGES;
  if (request.rerun !== undefined)
    return isEval(request.rerun) ? JOURNAL_FORMAT_WITH_EVALS : JOURNAL_FORMAT_WITH_RERUNS;
  if (history.length > 0 || extras !== NO_EXTRAS || request.attachments.some(isInlineFile)) {
    return JOURNAL_FORMAT_WITH_EXTRAS;
  }
  if (decision.continuation !== null || request.clientTools.length > 0) return JOURNAL_FORMAT_WITH_ACTIONS;
  if (agents.some(usesSandbox)) return JOURNAL_FORMAT_WITH_ACTIONS;
  const flows = agency?.agents.get(decision.agent)?.flows ?? [];
  if (flows.length > 0) return JOURNAL_FORMAT_WITH_FLOWS;
  return request.attachments.every(isInline) ? JOURNAL_FORMAT : JOURNAL_FORMAT_WITH_URLS;
}

/** The chat exists, so its earlier turns are not read. Their bytes were stored before that was known. */
async function leaveToSweep(
  tx: Tx,
  { integrationId, now }: Parameters<typeof referToBlob>[1],
  turns: CompletionRequest['history'],
  { byHash }: StoredBlobs,
): Promise<void> {
  for (const { sha256 } of turns.flatMap(({ attachments }) => attachments.filter(isInline))) {
    const blob = byHash.get(sha256);
    if (blob === undefined) continue;
    await referToBlob(tx, { integrationId, now }, blob);
    await tx.run(freeBlob, { blobKey: blob.blobKey, now });
  }
}

const isRemembered = ({ questionId }: Settlement, answers: CompletionRequest['answers']): boolean =>
  answers?.some((answer) => answer.questionId === questionId && answer.remember === 'chat') === true;

/** Records what became of the chat's questions. The chat's row is locked already. */
async function settleAll(
  tx: Tx,
  { request, decision, now }: Reservation,
  { runId: askingRunId, settlements }: Continuation,
  { chatKey, runId }: { readonly chatKey: ChatKey; readonly runId: RunId },
): Promise<void> {
  const { ownerId, answers, answeredBy, audit, integrationId, consumerId } = request;
  const questions = parseQuestions(decision.chat?.questionsJson ?? null)?.questions ?? [];
  await Promise.all(
    settlements.map((settlement) => {
      const { questionId, callId } = settlement;
      const question = questions.find((one) => one.questionId === questionId);
      const isAnswered = answers !== null && answeredBy !== null;
      return tx.run(settleAskedQuestion, {
        question_id: questionId,
        chat_key: chatKey,
        run_id: askingRunId,
        call_id_json: JSON.stringify(callId),
        owner_id: ownerId,
        asked_at: now,
        question_json: question === undefined ? null : JSON.stringify(question),
        settled_at: now,
        answered_run_id: isAnswered ? runId : null,
        answer_json: isAnswered ? JSON.stringify(toStoredAnswer(settlement, answers, answeredBy)) : null,
        remembered_tool: isRemembered(settlement, answers) ? (question?.tool ?? null) : null,
      });
    }),
  );
  const [first] = settlements;
  if (audit === undefined || first === undefined) return;
  const after = Object.fromEntries(settlements.map(({ questionId, verdict }) => [questionId, verdict]));
  await audit(tx, { target: ['question', first.questionId], integrationId, consumerId, after });
}

const NO_TURNS: CompletionRequest['history'] = [];

/** The writes of T1: the chat, the message, the run, its first event and its attachments. */
export async function reserveRun(tx: Tx, reservation: Reservation): Promise<AdmittedRun> {
  const { request, decision, blobs, nodeId, now } = reservation;
  const { ownerId, integrationId, consumerId, usageRequestId, aliasChatId, message, messageBytes } = request;
  const { userContext, clientTools } = request;
  const { agency, agent, begins, chat, hasHistory, continuation } = decision;
  const { maxRunSeconds, onDisconnect, keepAttachments, model, files } = decision;
  const extras = begins === null ? request.extras : { ...request.extras, begins };
  const runId = newRunId();
  const agencyVersion = reservation.agency?.version ?? null;
  const day = toDay(now);
  const history = chat === null ? request.history : NO_TURNS;
  const sandboxFiles = request.sandboxFiles.map(({ file }) => file);
  const chatKey = chat?.chatKey ?? newChatKey();
  const chatId = chat?.chatId ?? request.chatId ?? ownChatId(chatKey);
  const isTransient = chat === null && request.chatRules.isTransient;
  const textBytes = messageBytes + (history.length === 0 ? 0 : countTextBytes(history));
  if (decision.registersMember && consumerId !== null) await registerMember(tx, integrationId, consumerId, now);
  // All statements are sent together: that is one round trip to the database.
  const joined =
    chat === null
      ? tx.run(isTransient ? insertTransientChat : insertChat, {
          chat_key: chatKey,
          integration_id: integrationId,
          chat_id: chatId,
          alias: aliasChatId,
          consumer_id: consumerId,
          num_messages: 1 + countMessages(history),
          text_bytes: textBytes,
          created_at: now,
        })
      : tx.run(growChat, {
          chatKey,
          textBytes,
          questionsJson: null,
          askingRunId: null,
          knownQuestionsJson: chat.questionsJson,
          now,
        });
  const writes: Promise<unknown>[] = [joined];
  // Due immediately: the sweep finds out when its last run ended.
  if (isTransient) writes.push(tx.run(insertTransientMark, { chat_key: chatKey, due_at: now }));
  const messageWritten = tx.run(insertMessage, {
    message_id: newId('msg'),
    chat_key: chatKey,
    run_id: runId,
    role: 'user',
    status: 'completed',
    agent,
    content_json: JSON.stringify(message),
    error_code: null,
    error_message: null,
    sandbox_files_json: sandboxFiles.length === 0 ? null : JSON.stringify(sandboxFiles),
    created_at: now,
  });
  const runWritten = tx.run(insertRun, {
    run_id: runId,
    integration_id: integrationId,
    chat_key: chatKey,
    consumer_id: consumerId,
    usage_request_id: usageRequestId,
    fingerprint: request.fingerprint,
    agency,
    agent,
    node_id: nodeId,
    held: decision.held,
    unit: decision.unit,
    day,
    period: decision.period,
    period_start: decision.periodStart,
    user_context_json: userContext === undefined ? null : JSON.stringify(userContext),
    continues: continuation?.runId ?? null,
    answers_json: continuation === null ? null : JSON.stringify(continuation.settlements),
    client_tools_json: request.clientTools.length === 0 ? null : JSON.stringify(request.clientTools),
    journal_format: journalFormat(reservation),
    agency_version: agencyVersion,
    file_access: files.access,
    member_folder: files.memberFolder,
    created_at: now,
  });
  const tracked = tx.run(insertActiveRun, {
    integration_id: integrationId,
    consumer_id: consumerId ?? NO_MEMBER,
    chat_key: chatKey,
    run_id: runId,
    node_id: nodeId,
    held: decision.held,
    unit: decision.unit,
    day,
  });
  const meta: Meta = {
    runId,
    chatId,
    aliasChatId: aliasChatId ?? chat?.knownAlias ?? null,
    usageRequestId,
    consumerId,
    agent,
    createdAt: now,
    ...(request.ignoredFields.length === 0 ? {} : { ignoredFields: request.ignoredFields }),
    ...(request.shown === undefined ? {} : { shown: request.shown }),
  };
  const opening: RunEvent = { type: 'meta', meta, id: 1 };
  // Otherwise a takeover can rebuild `meta` from the rows, and the first chunk of the run contains it.
  const isOpeningStored = reservation.storesMeta || request.ignoredFields.length > 0 || request.shown !== undefined;
  writes.push(messageWritten, runWritten, tracked);
  if (isOpeningStored) {
    writes.push(tx.run(insertChunk, { run_id: runId, first_id: 1, last_id: 1, data: encodeChunk([opening]) }));
  }
  const importedIds = history.length === 0 ? null : storeImported(tx, { chatKey, agent, now }, history);
  if (importedIds !== null) writes.push(importedIds);
  // `joined` locks the chat's row: from then on no sweep can delete its copies. If one has, an expired link matters now.
  const checksLinks = chat !== null && hasHistory && !keepAttachments;
  const links = checksLinks ? refreshesRefusal(tx, chatKey, request.refreshes, now) : null;
  if (links !== null) writes.push(links);
  const lasting = decision.readsLasting ? readLasting(tx, reservation.agency, chatKey) : null;
  if (lasting !== null) writes.push(lasting);
  await Promise.all(writes);
  if ((await joined) !== 1) throw new FactsChanged('The chat was deleted, or its questions were settled.');
  if (links !== null && (await links) !== null) {
    throw new FactsChanged('A sweep has deleted copies, and a link has expired.');
  }
  if (lasting !== null && ((await lasting)?.lastingAgent ?? agent) !== (begins ?? agent)) {
    throw new FactsChanged('A run of the chat has made a lasting hand-off.');
  }
  if (continuation !== null) await settleAll(tx, reservation, continuation, { chatKey, runId });
  // Sent after the other statements: a transaction awaits everything that it has sent before it sends what depends on it.
  if (chat !== null && chat.alias !== null && (await tx.run(bindAlias, { chatKey, alias: chat.alias })) !== 1) {
    throw new FactsChanged('The chat has another alias.');
  }
  const { trace } = request;
  const extrasJson = toExtrasJson(extras, trace.trace_id === undefined ? undefined : trace.traceparent);
  const rerun = request.rerun === undefined || request.rerun instanceof Refusal ? null : request.rerun;
  if (extrasJson !== null && rerun === null) await tx.run(storeExtras, { runId, extrasJson });
  const { refreshes } = request;
  if (!(refreshes instanceof Refusal) && refreshes.length > 0) await applyRefreshes(tx, chatKey, refreshes);
  for (const { below } of request.sandboxFiles)
    await tx.run(announceFile, { chat_key: chatKey, path: storedPath(below) });
  const place = { integrationId, chatKey, now };
  if (blobs.batch !== null) await claimBlobs(tx, blobs.batch);
  const original = rerun === null || rerun.from === null ? null : rerun;
  let attachments: readonly StoredAttachment[] = [];
  if (original !== null) attachments = await storeOriginal(tx, original, { chatKey, runId, extrasJson });
  else if (rerun !== null) await storeEval(tx, runId, extrasJson);
  else if (request.attachments.length > 0)
    attachments = await insertAttachments(tx, { ...place, runId }, request.attachments, blobs);
  if (importedIds !== null) {
    for (const [index, importedId] of (await importedIds).entries()) {
      const ofTurn = history[index]?.attachments ?? [];
      if (ofTurn.length > 0) await insertAttachments(tx, { ...place, runId: importedId }, ofTurn, blobs);
    }
  }
  if (history !== request.history && blobs.batch !== null) await leaveToSweep(tx, place, request.history, blobs);
  const resumed = original === null ? null : toResumePoint(original, now);
  return admittedRun(
    {
      runId,
      integrationId,
      consumerId,
      chatKey,
      chatId,
      agency,
      agent,
      agencyVersion,
      day,
      createdAt: now,
      rerunOf: rerun === null ? null : (original?.runId ?? runId),
    },
    { maxRunSeconds, onDisconnect, keepAttachments, model, files },
    { ownerId, message, attachments, sandboxFiles, userContext, hasHistory, continuation, clientTools, extras },
    {
      trace,
      attempt: 1,
      nodeId,
      isNewChat: chat === null,
      opening,
      isOpeningStored,
      resumed,
      original: original?.journal ?? null,
    },
  );
}
