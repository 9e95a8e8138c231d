import { GetCompletionV2Request as RequestSchema } from '@runwire/contract/schemas';
import type { FetchAllow } from '@runwire/guarded-fetch/url-rules';
import { isBlank } from '@runwire/lib/is-blank.ts';
import { memberName } from '@runwire/lib/member-name.ts';
import type { Static } from 'typebox';
import type { CompletionRequest } from '../../admission/completion-request.ts';
import type { ClientToken } from '../../domain/account/caller.ts';
import { OWN_CHAT_RULES } from '../../domain/admission/chat-rules.ts';
import { fingerprint } from '../../domain/admission/fingerprint.ts';
import { readRefreshes } from '../../domain/attachment/attachment-refresh.ts';
import { checkSandboxFile } from '../../domain/file/sandbox-file.ts';
import { chosenChatId, type OwnerId } from '../../domain/ids.ts';
import { checkClientTools } from '../../domain/question/client-tool.ts';
import type { Answerer } from '../../domain/question/question.ts';
import { checkAnswers } from '../../domain/question/settle-questions.ts';
import { Refusal } from '../../domain/refusal.ts';
import type { RequestTrace } from '../../domain/request-trace.ts';
import { checkExtras, NO_EXTRAS, type RunExtras } from '../../domain/run/run-extras.ts';
import { comparedFields, listedFields, nearestField, unknownFields } from '../../domain/unknown-fields.ts';
import { type ImageSource, NO_FILES } from './inline-files.ts';
import { requestAttachments } from './request-attachments.ts';
import { requestHistory } from './request-history.ts';

export type CompletionBody = Static<typeof RequestSchema>;

/** The integration is checked after everything else. */
export type GivenCompletion = Omit<CompletionRequest, 'integrationId'>;

export interface CompletionLimits {
  readonly userContextBytes: number;
}

/** A body that matches its schema, and what the server knows of its sender. */
export interface CompletionSource {
  readonly body: CompletionBody;
  readonly ownerId: OwnerId;
  readonly clientToken: ClientToken | null;
  /** Null if the body has no answers. */
  readonly answeredBy: Answerer | null;
  readonly images: ImageSource | null;
  readonly trace: RequestTrace;
}

const FIELDS: ReadonlySet<string> = new Set(Object.keys(RequestSchema.properties));
const COMPARED_FIELDS = comparedFields(FIELDS);

/**
 * Runs before the schema validates the body. A blank `consumerId` or `usageRequestId` counts as missing. A misspelt field
 * is refused by its name: if `usageRequestID` were ignored, the request would not be idempotent.
 */
export function prepareCompletion(body: unknown): void {
  if (body === null || typeof body !== 'object' || Array.isArray(body)) return;
  const fields = body as { -readonly [field in keyof CompletionBody]?: unknown };
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

/** Throws a `Refusal` that names the field. */
export function readCompletion(
  source: CompletionSource,
  { userContextBytes: maxContextBytes }: CompletionLimits,
  fetchAllow: FetchAllow,
): GivenCompletion {
  const { body, ownerId, clientToken, trace } = source;
  const images = source.images ?? NO_FILES;
  const usageRequestId = body.usageRequestId ?? null;
  // With a client token the body has no context, so it is not compared for a replay.
  const context = clientToken === null ? body.user_context : clientToken.userContext;
  if (context !== undefined && context !== null && Buffer.byteLength(JSON.stringify(context)) > maxContextBytes) {
    throw new Refusal('invalid_request', `\`user_context\` must be at most ${maxContextBytes} bytes of JSON.`);
  }
  const { answers = null, clientTools = [] } = body;
  const wrong = checkAnswers(answers ?? []) ?? checkClientTools(clientTools);
  if (wrong !== null) throw wrong;
  const attachments = requestAttachments(body.attachments, images, fetchAllow);
  const known: Record<string, unknown> = {};
  // Unknown fields are ignored, so they are not part of the comparison of bodies either.
  for (const field of FIELDS) known[field] = body[field as keyof CompletionBody];
  const sandboxFiles = givenFiles(body);
  if (body.sandboxFiles !== undefined) known.sandboxFiles = sandboxFiles.map(({ file }) => file);
  return {
    ownerId,
    member: clientToken,
    trace,
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
    answeredBy: source.answeredBy,
    clientTools,
    ignoredFields: listedFields(unknownFields(body, FIELDS)),
    refreshes: readRefreshes(body.attachmentUrlRefreshes ?? {}, fetchAllow),
    history: requestHistory(body.history, images, fetchAllow),
    extras: requestExtras(body),
    chatRules: OWN_CHAT_RULES,
  };
}

function requestExtras({ instructions }: CompletionBody): RunExtras {
  if (instructions === undefined) return NO_EXTRAS;
  const extras = { ...NO_EXTRAS, instructions };
  const wrong = checkExtras(extras);
  if (wrong !== null) throw wrong;
  return extras;
}

function givenFiles({ sandboxFiles = [] }: CompletionBody): CompletionRequest['sandboxFiles'] {
  return sandboxFiles.map((given, index) => {
    const checked = checkSandboxFile(given);
    if ('file' in checked) return checked;
    throw new Refusal('invalid_request', `\`sandboxFiles[${index}].${checked.field}\` ${checked.problem}.`);
  });
}
