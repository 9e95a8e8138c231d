import type { HistoryItem } from '@runwire/contract';
import type { FetchAllow } from '@runwire/guarded-fetch/url-rules';
import type { RequestTurn } from '../../admission/completion-request.ts';
import { HistoryBuilder } from '../../chats/history-builder.ts';
import { Refusal } from '../../domain/refusal.ts';
import type { ImageSource } from './inline-files.ts';
import { requestAttachments } from './request-attachments.ts';

const MAX_ATTACHMENTS = 20;
const NO_TURNS: readonly RequestTurn[] = [];

/** Reads the turns of a body that matches its schema. Throws a `Refusal` that names the item. */
export function requestHistory(
  items: readonly HistoryItem[] | undefined,
  images: ImageSource,
  allow: FetchAllow,
): readonly RequestTurn[] {
  if (items === undefined || items.length === 0) return NO_TURNS;
  const turns = new HistoryBuilder<RequestTurn['attachments']>([]);
  let attached = 0;
  for (const [index, item] of items.entries()) {
    if (item.role === 'user') {
      attached += item.attachments?.length ?? 0;
      if (attached > MAX_ATTACHMENTS) {
        throw new Refusal('invalid_request', `\`history\` must have at most ${MAX_ATTACHMENTS} attachments in all.`);
      }
      turns.user(item.content, requestAttachments(item.attachments, images, allow, `history[${index}].attachments`));
    } else if (item.role === 'tool') turns.output(item.callId, item.output, item.failed === true);
    else {
      const { content, calls, agent = null } = item;
      if (content === undefined && calls === undefined) {
        throw new Refusal('invalid_request', `\`history[${index}]\` must have \`content\` or \`calls\`.`);
      }
      if (content !== undefined) turns.text(content, agent);
      if (calls !== undefined) {
        turns.calls(
          calls.map((call) => ({ ...call, argumentsText: JSON.stringify(call.arguments) })),
          agent,
        );
      }
    }
  }
  return turns.finish();
}
