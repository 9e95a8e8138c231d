import { memberName } from '@runwire/lib/member-name.ts';
import type { RequestTurn } from '../../../../admission/completion-request.ts';
import type { RequestAttachment } from '../../../../attachments/request-attachment.ts';
import type { RequestAnswer } from '../../../../domain/question/question.ts';
import { Refusal } from '../../../../domain/refusal.ts';
import type { SentInstructions } from '../../caller-instructions.ts';
import type { Fields } from '../../fields.ts';
import { HistoryTurns } from '../../history-turns.ts';
import { type PartRules, readContent } from '../../message-parts.ts';
import { toQuestionId } from '../../question-calls.ts';

/** What `input` holds. */
export interface ResponseInput {
  /** The newest item if it is the user's, otherwise empty. */
  readonly message: string;
  readonly attachments: readonly RequestAttachment[];
  /** The outputs and approvals at the end of the items, before a message. */
  readonly answers: readonly RequestAnswer[];
  /** All items before the newest, as a new chat imports them. */
  readonly history: () => readonly RequestTurn[];
  /** True if there are earlier items than the newest. */
  readonly hasEarlier: boolean;
  /** The texts of system and developer messages. */
  readonly instructions: readonly SentInstructions[];
}

/** Reads `input`: a text, or a list of items as the Responses API and its clients send them back. */
export function readInput(body: Fields, rules: PartRules): ResponseInput {
  const sent = body.any('input');
  const none = { attachments: [], answers: [], history: () => [], hasEarlier: false, instructions: [] };
  if (sent === null) return { ...none, message: '' };
  if (typeof sent === 'string') return { ...none, message: sent };
  if (!Array.isArray(sent)) throw body.refusal('input', 'must be a text or a list of items');
  const all = body.objects('input').map((fields) => ({ fields, type: itemType(fields) }));
  for (const { fields, type } of all) checkType(fields, type);
  const instructions = all.filter(isInstruction).map(({ fields }) => readInstruction(fields, rules));
  const items = all.filter((item) => !isInstruction(item));
  const newest = items.at(-1);
  const isMessage = newest !== undefined && isOf(newest, 'user');
  const content = isMessage ? readContent(newest.fields, 'content', rules) : { text: '', attachments: [] };
  const before = isMessage ? items.slice(0, -1) : items;
  const firstAnswer = before.findLastIndex((item) => !isAnswer(item)) + 1;
  return {
    message: content.text,
    attachments: content.attachments,
    answers: before.slice(firstAnswer).map(({ fields, type }) => readAnswer(fields, type)),
    history: () => readHistory(before, rules),
    hasEarlier: before.length > 0,
    instructions,
  };
}

/** The items of a new conversation. */
export function readItems(body: Fields, name: string, rules: PartRules): readonly RequestTurn[] {
  const items = body.objects(name).map((fields) => ({ fields, type: itemType(fields) }));
  for (const { fields, type } of items) checkType(fields, type);
  return readHistory(
    items.filter((item) => !isInstruction(item)),
    rules,
  );
}

interface Item {
  readonly fields: Fields;
  readonly type: string;
}

const itemType = (item: Fields): string => item.text('type') ?? (item.has('role') ? 'message' : 'item_reference');

/** Items that clients send back although nothing here uses them. */
const LEFT_OUT: ReadonlySet<string> = new Set(['reasoning', 'mcp_list_tools', 'mcp_approval_request', 'compaction']);
const READ: ReadonlySet<string> = new Set([
  'message',
  'function_call',
  'function_call_output',
  'mcp_call',
  'mcp_approval_response',
  'item_reference',
]);

function checkType(item: Fields, type: string): void {
  if (READ.has(type) || LEFT_OUT.has(type)) return;
  const sentence = `\`${memberName(item.nameOf('type'))}\` is \`${memberName(type)}\`, which is not supported; send messages, function calls and their outputs.`;
  throw new Refusal('unsupported_field', sentence);
}

const isOf = ({ fields, type }: Item, role: string) => type === 'message' && fields.text('role') === role;
const isInstruction = (item: Item) => isOf(item, 'system') || isOf(item, 'developer');
const isAnswer = ({ type }: Item) => type === 'function_call_output' || type === 'mcp_approval_response';

function readInstruction(item: Fields, rules: PartRules): SentInstructions {
  return { name: item.nameOf('content'), text: readContent(item, 'content', rules).text };
}

function readAnswer(item: Fields, type: string): RequestAnswer {
  if (type === 'function_call_output') {
    return { questionId: toQuestion(item, 'call_id'), output: readOutput(item) };
  }
  const approve = item.flag('approve');
  if (approve === null) throw item.refusal('approve', 'is missing');
  const reason = item.text('reason');
  return { questionId: toQuestion(item, 'approval_request_id'), approve, ...(reason === null ? {} : { reason }) };
}

const toQuestion = (item: Fields, name: string): string => {
  const callId = item.requiredText(name);
  return toQuestionId(callId) ?? callId;
};

/** An output is a text, or a list of parts. Only texts count. */
function readOutput(item: Fields): string {
  const output = item.any('output');
  if (typeof output === 'string') return output;
  if (!Array.isArray(output)) throw item.refusal('output', 'must be a text or a list of texts');
  return item
    .objects('output')
    .map((part) => part.text('text') ?? '')
    .join('\n');
}

/** Items that name others of this server by their ids are left out: nothing in a new chat has them. */
function readHistory(items: readonly Item[], rules: PartRules): readonly RequestTurn[] {
  const turns = new HistoryTurns();
  for (const { fields, type } of items) {
    switch (type) {
      case 'message': {
        const { text, attachments } = readContent(fields, 'content', rules);
        const role = fields.requiredText('role');
        if (role === 'user') turns.user(text, attachments);
        else if (role === 'assistant') turns.assistant(text);
        else throw fields.refusal('role', 'must be `user`, `assistant`, `system` or `developer`');
        break;
      }
      case 'function_call':
        turns.call(fields.requiredText('call_id'), fields.requiredText('name'), fields.text('arguments') ?? '{}');
        break;
      case 'function_call_output':
        turns.output(fields.requiredText('call_id'), readOutput(fields));
        break;
      case 'mcp_call': {
        const id = fields.requiredText('id');
        turns.call(id, fields.requiredText('name'), fields.text('arguments') ?? '{}');
        const error = fields.any('error');
        if (error !== null) turns.output(id, typeof error === 'string' ? error : JSON.stringify(error), true);
        else turns.output(id, fields.text('output') ?? '');
      }
    }
  }
  return turns.turns;
}
