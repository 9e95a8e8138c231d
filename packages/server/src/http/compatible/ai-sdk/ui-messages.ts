import type { RequestAttachment } from '../../../attachments/request-attachment.ts';
import type { RequestAnswer } from '../../../domain/question/question.ts';
import { inlineAttachment } from '../../body/inline-file.ts';
import { isDataUrl } from '../../body/inline-image.ts';
import { fileByUrl, imageByUrl } from '../../body/request-attachments.ts';
import type { Fields } from '../fields.ts';
import type { HistoryTurns } from '../history-turns.ts';
import type { PartRules } from '../message-parts.ts';
import { toQuestionId } from '../question-calls.ts';

/** A message of `useChat`. */
export interface UiMessage {
  readonly id: string;
  readonly role: 'user' | 'assistant' | 'system';
  readonly parts: readonly Fields[];
  readonly fields: Fields;
}

export function readMessage(fields: Fields): UiMessage {
  const role = fields.requiredText('role');
  if (role !== 'user' && role !== 'assistant' && role !== 'system') {
    throw fields.refusal('role', 'must be `user`, `assistant` or `system`');
  }
  return { id: fields.text('id') ?? '', role, parts: fields.objects('parts'), fields };
}

const isText = (part: Fields) => part.requiredText('type') === 'text';

/** A message's texts. */
export const getText = ({ parts }: UiMessage): string =>
  parts
    .filter(isText)
    .map((part) => part.requiredText('text'))
    .join('\n');

export function getFiles({ parts }: UiMessage, rules: PartRules): RequestAttachment[] {
  return parts.filter((part) => part.requiredText('type') === 'file').map((part) => readFile(part, rules));
}

function readFile(part: Fields, { fetchAllow, inline }: PartRules): RequestAttachment {
  const url = part.requiredText('url');
  const isImage = part.requiredText('mediaType').startsWith('image/');
  if (isDataUrl(url)) {
    const file = inlineAttachment(inline.file(url), { filename: part.text('filename') });
    if ('problem' in file) throw part.refusal('url', file.problem);
    return file;
  }
  const refuse = (field: string, problem: string) => part.refusal(field === 'filename' ? 'filename' : 'url', problem);
  return isImage
    ? imageByUrl(url, 'auto', fetchAllow, refuse)
    : fileByUrl(url, part.text('filename'), fetchAllow, refuse);
}

/** A tool part of an assistant message. */
interface ToolPart {
  readonly callId: string;
  readonly tool: string;
  readonly state: string;
  readonly ofServer: boolean;
  readonly part: Fields;
}

function readTool(part: Fields): ToolPart | null {
  const type = part.requiredText('type');
  if (type !== 'dynamic-tool' && !type.startsWith('tool-')) return null;
  return {
    callId: part.requiredText('toolCallId'),
    tool: type === 'dynamic-tool' ? part.requiredText('toolName') : type.slice('tool-'.length),
    state: part.requiredText('state'),
    ofServer: part.flag('providerExecuted') === true,
    part,
  };
}

/** An answer in a message, and whether its call is in the message's last step. */
export interface UiOutput {
  readonly answer: RequestAnswer;
  readonly isInLastStep: boolean;
}

/** The outputs and approvals in an assistant message: for open questions, and for questions that were answered before. */
export function getOutputs({ parts }: UiMessage): UiOutput[] {
  const lastStep = parts.findLastIndex((part) => part.requiredText('type') === 'step-start');
  return parts.flatMap((part, index) => {
    const tool = readTool(part);
    const answer = tool === null ? null : toAnswer(tool);
    return answer === null ? [] : [{ answer, isInLastStep: index > lastStep }];
  });
}

function toAnswer({ callId, state, ofServer, part }: ToolPart): RequestAnswer | null {
  if (state === 'approval-responded') {
    const approval = part.object('approval');
    const questionId = approval?.requiredText('id') ?? '';
    const reason = approval?.text('reason') ?? null;
    return { questionId, approve: approval?.flag('approved') === true, ...(reason !== null && { reason }) };
  }
  const questionId = toQuestionId(callId);
  if (ofServer || questionId === null) return null;
  if (state === 'output-available') return { questionId, output: part.any('output') ?? '' };
  if (state === 'output-error') return { questionId, output: part.text('errorText') ?? '', failed: true };
  return null;
}

/** Adds a message to the history of a new chat. System messages are instructions. */
export function addToHistory(turns: HistoryTurns, message: UiMessage, rules: PartRules): void {
  if (message.role === 'user') turns.user(getText(message), getFiles(message, rules));
  if (message.role !== 'assistant') return;
  for (const part of message.parts) {
    const tool = readTool(part);
    if (tool !== null) addCall(turns, tool);
    else if (isText(part)) turns.assistant(part.requiredText('text'));
  }
}

function addCall(turns: HistoryTurns, { callId, tool, state, part }: ToolPart): void {
  if (state === 'input-streaming') return;
  turns.call(callId, tool, JSON.stringify(part.any('input') ?? {}));
  const output = part.any('output');
  if (state === 'output-available') turns.output(callId, typeof output === 'string' ? output : JSON.stringify(output));
  if (state === 'output-error') turns.output(callId, part.text('errorText') ?? '', true);
  if (state === 'output-denied') turns.output(callId, 'Declined by the user.', true);
}
