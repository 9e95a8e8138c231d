import type { GetCompletionV2Request } from '@runwire/contract';
import { operations, GetCompletionV2Request as RequestSchema } from '@runwire/contract/schemas';
import type { FetchAllow } from '@runwire/guarded-fetch/url-rules';
import { isBlank } from '@runwire/lib/is-blank.ts';
import { memberName } from '@runwire/lib/member-name.ts';
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { CompletionRequest } from '../../admission/completion-request.ts';
import type { Scope } from '../../domain/account/scope.ts';
import { OWN_CHAT_RULES } from '../../domain/admission/chat-rules.ts';
import { fingerprint } from '../../domain/admission/fingerprint.ts';
import { readRefreshes } from '../../domain/attachment/attachment-refresh.ts';
import { checkSandboxFile } from '../../domain/file/sandbox-file.ts';
import { chosenChatId, type RunId } from '../../domain/ids.ts';
import { checkClientTools } from '../../domain/question/client-tool.ts';
import { checkAnswers } from '../../domain/question/settle-questions.ts';
import { Refusal } from '../../domain/refusal.ts';
import { checkExtras, NO_EXTRAS, type RunExtras } from '../../domain/run/run-extras.ts';
import { isFinished } from '../../domain/run/run-state.ts';
import { comparedFields, listedFields, nearestField, unknownFields } from '../../domain/unknown-fields.ts';
import type { RunReads } from '../../runs/read-runs.ts';
import { NO_FILES } from '../body/inline-files.ts';
import { requestAttachments } from '../body/request-attachments.ts';
import { requestHistory } from '../body/request-history.ts';
import type { Encoder } from '../encoders/encoder.ts';
import { TextOnly } from '../encoders/text-only.ts';
import { givenCursor, parseEventId } from '../event-cursor.ts';
import { toTrace } from '../request-id.ts';
import { type RequestOf, route } from '../route.ts';
import type { RunStarts } from '../run-starts.ts';

export interface GetCompletionDeps {
  readonly starts: RunStarts;
  readonly runReads: RunReads;
  readonly encoder: Encoder;
  readonly limits: { readonly userContextBytes: number };
  readonly fetchAllow: FetchAllow;
}

/** The integration is checked after everything else. */
type GivenRequest = Omit<CompletionRequest, 'integrationId'>;
type Request = RequestOf<typeof operations.getCompletionV2>;

/** Admit, then follow from the start. */
export function getCompletion(app: FastifyInstance, deps: GetCompletionDeps): void {
  const complete = async (request: Request, reply: FastifyReply, scope: Scope, given: GivenRequest) => {
    const completion: CompletionRequest = Object.assign(given, { integrationId: scope.integrationId });
    const started = await deps.starts.admit(request, reply, completion);
    const { runId, replayed, textOnly } = started.admission;
    // "A replay sends the whole text."
    const resumes = replayed && !textOnly;
    const after = resumes ? await replayCursor(deps, scope, runId, request.headers['last-event-id']) : 0;
    // `Accept` is ignored: only the integration decides.
    deps.starts.follow(request, reply, started, textOnly ? new TextOnly() : deps.encoder, after);
  };
  const read = (request: Request) => completionRequest(request, deps);
  route(app, operations.getCompletionV2, complete, { prepareBody, read });
}

/**
 * Returns the cursor of a replay from its `Last-Event-ID`. The header counts as absent if the run is compacted, or if the
 * run has ended and the header is at or after its end. If it is ahead of a live run, the reader waits, as at `…/events`.
 */
async function replayCursor(
  deps: GetCompletionDeps,
  scope: Scope,
  runId: RunId,
  header: string | string[] | undefined,
): Promise<number> {
  const after = parseEventId(givenCursor(header) ?? '0') ?? 0;
  if (after === 0) return 0;
  const run = await deps.runReads.row(scope, runId).catch(() => null);
  if (run === null || run.compacted_at !== null) return 0;
  return isFinished(run.status) && after >= (run.last_event_id ?? 0) ? 0 : after;
}

const FIELDS: ReadonlySet<string> = new Set(Object.keys(RequestSchema.properties));
const COMPARED_FIELDS = comparedFields(FIELDS);

/**
 * Runs before the schema validates the body. A blank `consumerId` or `usageRequestId` counts as missing. A misspelt field
 * is refused by its name: if `usageRequestID` were ignored, the request would not be idempotent.
 */
function prepareBody(body: unknown): void {
  if (body === null || typeof body !== 'object' || Array.isArray(body)) return;
  const fields = body as { -readonly [field in keyof GetCompletionV2Request]?: unknown };
  for (const id of ['consumerId', 'usageRequestId'] as const) {
    const value = fields[id];
    if (typeof value === 'string' && isBlank(value)) fields[id] = undefined;
  }
  for (const name of unknownFields(body, FIELDS)) {
    const meant = nearestField(name, COMPARED_FIELDS);
    if (meant === null) continue;
    const sentence = `\`${memberName(name)}\` is not a field of this request; did you mean \`${meant}\`?`;
    throw new Refusal('invalid_request', sentence);
  }
}

function completionRequest(request: Request, { limits, fetchAllow }: GetCompletionDeps): GivenRequest {
  const { body, principal, clientToken, inlineFiles } = request;
  const usageRequestId = body.usageRequestId ?? null;
  // With a client token the body has no context, so it is not compared for a replay.
  const context = clientToken === null ? body.user_context : clientToken.userContext;
  const maxContextBytes = limits.userContextBytes;
  if (context !== undefined && context !== null && Buffer.byteLength(JSON.stringify(context)) > maxContextBytes) {
    throw new Refusal('invalid_request', `\`user_context\` must be at most ${maxContextBytes} bytes of JSON.`);
  }
  const { answers = null, clientTools = [] } = body;
  const wrong = checkAnswers(answers ?? []) ?? checkClientTools(clientTools);
  if (wrong !== null) throw wrong;
  const attachments = requestAttachments(body.attachments, inlineFiles ?? NO_FILES, fetchAllow);
  const known: Record<string, unknown> = {};
  // Unknown fields are ignored, so they are not part of the comparison of bodies either.
  for (const field of FIELDS) known[field] = body[field as keyof GetCompletionV2Request];
  const sandboxFiles = givenFiles(body);
  if (body.sandboxFiles !== undefined) known.sandboxFiles = sandboxFiles.map(({ file }) => file);
  return {
    ownerId: principal.ownerId,
    member: clientToken,
    trace: toTrace(request),
    message: body.message,
    messageBytes: Buffer.byteLength(body.message),
    userContext: context ?? undefined,
    attachments,
    sandboxFiles,
    consumerId: body.consumerId ?? null,
    usageRequestId,
    chatId: body.chatId ? chosenChatId(body.chatId) : null,
    aliasChatId: body.aliasChatId ?? null,
    agent: body.agent ?? null,
    fingerprint: usageRequestId === null ? null : fingerprint(known),
    answers,
    clientTools,
    ignoredFields: listedFields(unknownFields(body, FIELDS)),
    refreshes: readRefreshes(body.attachmentUrlRefreshes ?? {}, fetchAllow),
    history: requestHistory(body.history, inlineFiles ?? NO_FILES, fetchAllow),
    extras: requestExtras(body),
    chatRules: OWN_CHAT_RULES,
  };
}

function requestExtras({ instructions }: GetCompletionV2Request): RunExtras {
  if (instructions === undefined) return NO_EXTRAS;
  const extras = { ...NO_EXTRAS, instructions };
  const wrong = checkExtras(extras);
  if (wrong !== null) throw wrong;
  return extras;
}

function givenFiles({ sandboxFiles = [] }: GetCompletionV2Request): CompletionRequest['sandboxFiles'] {
  return sandboxFiles.map((given, index) => {
    const checked = checkSandboxFile(given);
    if ('file' in checked) return checked;
    throw new Refusal('invalid_request', `\`sandboxFiles[${index}].${checked.field}\` ${checked.problem}.`);
  });
}
