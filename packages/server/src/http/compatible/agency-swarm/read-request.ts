import type { RequestAttachment } from '../../../attachments/request-attachment.ts';
import { Refusal } from '../../../domain/refusal.ts';
import { NO_EXTRAS } from '../../../domain/run/run-extras.ts';
import { fileByUrl, imageByUrl } from '../../body/request-attachments.ts';
import { callerInstructions, type SentInstructions } from '../caller-instructions.ts';
import type { CompatibleCall } from '../compatible-route.ts';
import { type CompatibleRequest, headerConsumer } from '../compatible-starts.ts';
import { Fields } from '../fields.ts';
import { type PartRules, readContent } from '../message-parts.ts';
import { readChatHistory } from './chat-history.ts';

/** The agency's agents and entry points. */
export interface AgencyNames {
  readonly agents: ReadonlySet<string>;
  readonly entryPoints: readonly string[];
}

/** Reads the body that `get_response` and `get_response_stream` have. */
export function readRequest(call: CompatibleCall, names: AgencyNames): CompatibleRequest {
  const { request, ignored, parts: rules } = call;
  const body = Fields.of(request.body);
  const message = readMessage(body, rules);
  const history = readChatHistory(body.objects('chat_history'), rules);
  const agent = readAgent(body, names, ignored);
  const additional = body.text('additional_instructions') ?? '';
  const files = readFileUrls(body, rules);
  refuseFileIds(body);
  const userContext = readUserContext(body, call);
  // It chooses this answer's model and its provider's key, which an integration sets here. No name for the chat is made.
  body.any('client_config');
  for (const name of ['generate_chat_name', 'client_config']) if (isSent(body, name)) ignored.add(name);
  for (const name of body.unread) ignored.add(name);
  const sent = [
    ...history.instructions,
    ...message.instructions,
    { name: 'additional_instructions', text: additional },
  ];
  const instructions = callerInstructions(sent, call);
  const isOfToken = request.clientToken !== null && request.clientToken.chatId !== null;
  // The token names a stored chat, so the items before the newest are not read.
  const turns = isOfToken ? [] : history.turns;
  return {
    message: message.text,
    attachments: [...message.attachments, ...files],
    agent,
    consumerId: headerConsumer(request),
    chatId: null,
    usageRequestId: idempotencyKey(request.headers['idempotency-key']),
    userContext,
    history: turns,
    extras: { ...NO_EXTRAS, instructions },
    chatRules: { isTransient: turns.length > 0 },
    compared: {
      message: body.any('message'),
      history: body.any('chat_history'),
      files: body.any('file_urls'),
      instructions,
      userContext: userContext ?? null,
    },
  };
}

const isSent = (body: Fields, name: string): boolean => (body.any(name) ?? false) !== false;

const idempotencyKey = (header: string | string[] | undefined): string | null =>
  typeof header === 'string' && header.trim() !== '' ? header : null;

interface Message {
  readonly text: string;
  readonly attachments: readonly RequestAttachment[];
  readonly instructions: readonly SentInstructions[];
}

/** A text, or a list of items: the user's are the message. */
function readMessage(body: Fields, rules: PartRules): Message {
  const sent = body.any('message');
  if (typeof sent === 'string') return { text: sent, attachments: [], instructions: [] };
  if (!Array.isArray(sent)) throw body.refusal('message', 'must be a text or a list of messages');
  const texts: string[] = [];
  const attachments: RequestAttachment[] = [];
  const instructions: SentInstructions[] = [];
  for (const item of body.objects('message')) {
    const role = item.text('role') ?? 'user';
    const content = readContent(item, 'content', rules);
    if (role === 'system' || role === 'developer')
      instructions.push({ name: item.nameOf('content'), text: content.text });
    else if (role !== 'user') throw item.refusal('role', 'must be `user`, `system` or `developer`');
    else {
      if (content.text !== '') texts.push(content.text);
      attachments.push(...content.attachments);
    }
  }
  return { text: texts.join('\n'), attachments, instructions };
}

/**
 * After a hand-off, clients name the agent that spoke last. Here a hand-off lasts until its run ends, so the run begins
 * with the default agent if that agent is no entry point.
 */
function readAgent(body: Fields, { agents, entryPoints }: AgencyNames, ignored: Set<string>): string | null {
  const agent = body.text('recipient_agent');
  if (agent === null || agent === '') return null;
  if (!agents.has(agent) || entryPoints.includes(agent)) return agent;
  ignored.add('recipient_agent');
  return null;
}

function readUserContext(body: Fields, { request }: CompatibleCall): unknown {
  const context = body.any('user_context') ?? undefined;
  if (context === undefined || request.clientToken === null) return context;
  const sentence = '`user_context` cannot be sent with a client token; your backend sets it as `userContext`.';
  throw new Refusal('invalid_request', sentence);
}

const IMAGE_NAME = /\.(?:png|jpe?g|gif|webp)$/i;

/** `file_urls` maps names to URLs. */
function readFileUrls(body: Fields, { fetchAllow }: PartRules): RequestAttachment[] {
  const urls = body.object('file_urls');
  if (urls === null) return [];
  return urls.names.map((name) => {
    const url = urls.requiredText(name);
    const refuse = (_: string, problem: string) => urls.refusal(name, problem);
    return IMAGE_NAME.test(name)
      ? imageByUrl(url, 'auto', fetchAllow, refuse)
      : fileByUrl(url, name, fetchAllow, refuse);
  });
}

function refuseFileIds(body: Fields): void {
  if ((body.list('file_ids') ?? []).length === 0) return;
  const sentence = '`file_ids` is not supported: this server stores no files by id; send `file_urls`.';
  throw new Refusal('unsupported_field', sentence);
}
