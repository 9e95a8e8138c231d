import type { RequestTurn } from '../../../../admission/completion-request.ts';
import type { RequestAttachment } from '../../../../attachments/request-attachment.ts';
import type { RequestAnswer } from '../../../../domain/question/question.ts';
import type { SentInstructions } from '../../caller-instructions.ts';
import type { Fields } from '../../fields.ts';
import { HistoryTurns } from '../../history-turns.ts';
import { type PartRules, readContent } from '../../message-parts.ts';
import { toQuestionId } from '../../question-calls.ts';

/** What `messages` holds. */
export interface ReadMessages {
  /** The newest message if it is the user's, otherwise empty. */
  readonly message: string;
  readonly attachments: readonly RequestAttachment[];
  /** The outputs of the caller's tools, if they are the newest messages; a user's message may follow them. */
  readonly answers: readonly RequestAnswer[];
  /** All messages before the newest. */
  readonly history: readonly RequestTurn[];
  readonly instructions: readonly SentInstructions[];
}

/** Reads `messages`. Reasoning that clients send back is left out: it is bound to the provider that made it. */
export function readMessages(body: Fields, rules: PartRules): ReadMessages {
  const all = body.objects('messages');
  if (all.length === 0) throw body.refusal('messages', 'must have at least one message');
  const messages = all.map((fields) => ({ fields, role: fields.requiredText('role') }));
  const instructions: SentInstructions[] = [];
  const rest: Message[] = [];
  for (const one of messages) {
    if (one.role !== 'system' && one.role !== 'developer') rest.push(one);
    else
      instructions.push({ name: one.fields.nameOf('content'), text: readContent(one.fields, 'content', rules).text });
  }
  const newest = rest.at(-1);
  const isUser = newest?.role === 'user';
  const content = isUser ? readContent(newest.fields, 'content', rules) : { text: '', attachments: [] };
  const before = isUser ? rest.slice(0, -1) : rest;
  const firstOutput = before.findLastIndex(({ role }) => role !== 'tool') + 1;
  return {
    message: content.text,
    attachments: content.attachments,
    answers: before.slice(firstOutput).map(({ fields }) => readAnswer(fields, rules)),
    history: readHistory(before, rules),
    instructions,
  };
}

interface Message {
  readonly fields: Fields;
  readonly role: string;
}

function readAnswer(message: Fields, rules: PartRules): RequestAnswer {
  const callId = message.requiredText('tool_call_id');
  return { questionId: toQuestionId(callId) ?? callId, output: readContent(message, 'content', rules).text };
}

function readHistory(messages: readonly Message[], rules: PartRules): readonly RequestTurn[] {
  const turns = new HistoryTurns();
  for (const { fields, role } of messages) {
    switch (role) {
      case 'user': {
        const { text, attachments } = readContent(fields, 'content', rules);
        turns.user(text, attachments);
        break;
      }
      case 'assistant':
        turns.assistant(readContent(fields, 'content', rules).text);
        for (const call of fields.objects('tool_calls')) {
          const about = call.object('function');
          if (about === null) continue;
          turns.call(call.requiredText('id'), about.requiredText('name'), about.text('arguments') ?? '{}');
        }
        break;
      case 'tool':
        turns.output(fields.requiredText('tool_call_id'), readContent(fields, 'content', rules).text);
        break;
      default:
        throw fields.refusal('role', 'must be `system`, `developer`, `user`, `assistant` or `tool`');
    }
  }
  return turns.turns;
}
