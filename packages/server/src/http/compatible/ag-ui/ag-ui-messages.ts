import { memberName } from '@runwire/lib/member-name.ts';
import type { RequestTurn } from '../../../admission/completion-request.ts';
import type { RequestAttachment } from '../../../attachments/request-attachment.ts';
import type { RequestAnswer } from '../../../domain/question/question.ts';
import { Refusal } from '../../../domain/refusal.ts';
import { inlineAttachment } from '../../body/inline-file.ts';
import { fileByUrl, imageByUrl } from '../../body/request-attachments.ts';
import type { SentInstructions } from '../caller-instructions.ts';
import type { Fields } from '../fields.ts';
import { HistoryTurns } from '../history-turns.ts';
import type { MessageContent, PartRules } from '../message-parts.ts';
import { toQuestionId } from '../question-calls.ts';

/** An output of a frontend tool, as the client sent it. */
export interface SentOutput {
  readonly toolCallId: string;
  readonly output: string;
  readonly failed: boolean;
}

/** The messages of a request, whose roles are known. */
export class AgUiMessages {
  readonly #messages: readonly Fields[];
  readonly #rules: PartRules;

  constructor(messages: readonly Fields[], rules: PartRules) {
    this.#messages = messages;
    this.#rules = rules;
  }

  /** The newest message, if the user wrote it. Otherwise an empty text. */
  newest(): MessageContent {
    const last = this.#messages.at(-1);
    return last?.text('role') === 'user' ? readContent(last, this.#rules) : { text: '', attachments: [] };
  }

  /** The outputs after the agent's newest message. The user's message may follow them. */
  newestOutputs(): SentOutput[] {
    const isUser = this.#messages.at(-1)?.text('role') === 'user';
    const end = isUser ? -1 : undefined;
    const before = this.#messages.slice(0, end);
    const first = before.findLastIndex((message) => message.text('role') !== 'tool') + 1;
    return before.slice(first).map(readOutput);
  }

  /** The ids of all calls with an output. */
  answeredCalls(): Set<string> {
    const outputs = this.#messages.filter((message) => message.text('role') === 'tool');
    return new Set(outputs.map((message) => message.requiredText('toolCallId')));
  }

  instructions(): SentInstructions[] {
    return this.#messages.flatMap((message, index) => {
      const role = message.text('role');
      if (role !== 'system' && role !== 'developer') return [];
      return [{ name: `messages.${index}`, text: readContent(message, this.#rules).text }];
    });
  }

  /** The turns before the newest message of the user. */
  history(): RequestTurn[] {
    const turns = new HistoryTurns();
    const end = this.#messages.at(-1)?.text('role') === 'user' ? -1 : undefined;
    for (const message of this.#messages.slice(0, end)) this.#addTo(turns, message);
    return turns.turns;
  }

  #addTo(turns: HistoryTurns, message: Fields): void {
    switch (message.text('role')) {
      case 'user': {
        const { text, attachments } = readContent(message, this.#rules);
        turns.user(text, attachments);
        return;
      }
      case 'assistant':
        turns.assistant(message.text('content') ?? '', null);
        for (const call of message.objects('toolCalls')) {
          const about = call.object('function');
          if (about === null) throw call.refusal('function', 'is missing');
          const name = about.requiredText('name');
          turns.call(call.requiredText('id'), name, about.text('arguments') ?? '');
        }
        return;
      case 'tool': {
        const { toolCallId, output, failed } = readOutput(message);
        turns.output(toolCallId, output, failed);
        return;
      }
    }
  }
}

/** Answers by outputs: those whose calls wait in the chat, or all of them if none does, so that they are refused. */
export function toAnswers(outputs: readonly SentOutput[], open: ReadonlySet<string>): RequestAnswer[] {
  const byCall = new Map(outputs.map((output) => [output.toolCallId, output]));
  const waiting = [...byCall.values()].filter(({ toolCallId }) => open.has(toQuestionId(toolCallId) ?? ''));
  return (waiting.length > 0 ? waiting : [...byCall.values()]).map(({ toolCallId, output, failed }) => {
    const answer = { questionId: toQuestionId(toolCallId) ?? toolCallId, output };
    return failed ? { ...answer, failed } : answer;
  });
}

function readOutput(message: Fields): SentOutput {
  const toolCallId = message.requiredText('toolCallId');
  const error = message.text('error');
  const content = readText(message);
  return { toolCallId, output: content === '' ? (error ?? '') : content, failed: error !== null };
}

/** The text of a message that may have no attachments. */
function readText(message: Fields): string {
  const content = message.any('content');
  if (content === null || typeof content === 'string') return content ?? '';
  return textParts(message).join('\n');
}

function textParts(message: Fields): string[] {
  return message
    .objects('content')
    .flatMap((part) => (part.text('type') === 'text' ? [part.requiredText('text')] : []));
}

function readContent(message: Fields, rules: PartRules): MessageContent {
  const content = message.any('content');
  if (content === null || typeof content === 'string') return { text: content ?? '', attachments: [] };
  if (!Array.isArray(content)) throw message.refusal('content', 'must be a text or a list of parts');
  const others = message.objects('content').filter((part) => part.requiredText('type') !== 'text');
  return {
    text: textParts(message).join('\n'),
    attachments: others.map((part) => readAttachment(part, rules)),
  };
}

function readAttachment(part: Fields, rules: PartRules): RequestAttachment {
  const type = part.requiredText('type');
  const isImage = type === 'image';
  if (!isImage && type !== 'document') {
    const sentence = `\`${memberName(part.nameOf('type'))}\` is \`${memberName(type)}\`, which is not supported; send texts, images and documents.`;
    throw new Refusal('unsupported_field', sentence);
  }
  const source = part.object('source');
  if (source === null) throw part.refusal('source', 'is missing');
  const value = source.requiredText('value');
  const refuse = (_: string, problem: string) => source.refusal('value', problem);
  const kind = source.requiredText('type');
  if (kind === 'url') {
    return isImage
      ? imageByUrl(value, 'auto', rules.fetchAllow, refuse)
      : fileByUrl(value, null, rules.fetchAllow, refuse);
  }
  if (kind === 'data') {
    const { inline } = rules;
    const mediaType = source.requiredText('mimeType');
    const file = inlineAttachment(isImage ? inline.image(value) : inline.file(value), { mediaType });
    if ('problem' in file) throw source.refusal('value', file.problem);
    return file;
  }
  const sentence = `\`${memberName(source.nameOf('type'))}\` is \`${memberName(kind)}\`, which is not supported; send a URL or the bytes.`;
  throw new Refusal('unsupported_field', sentence);
}
