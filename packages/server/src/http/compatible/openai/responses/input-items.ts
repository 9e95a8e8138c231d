import { attachmentJson } from '../../../../chats/chats.ts';
import type { CompatibleDeps } from '../../compatible-deps.ts';
import type { CompatibleCall } from '../../compatible-route.ts';
import { toCallId } from '../../question-calls.ts';
import { readEvents } from '../../read-events.ts';
import { readEarlierCalls } from './earlier-calls.ts';
import { findRun } from './read-response.ts';

/** `GET /responses/{id}/input_items`: what the request of the run brought, the outputs of the caller's calls included. */
export async function listInputItems(deps: CompatibleDeps, call: CompatibleCall) {
  const run = await findRun(deps, call);
  const outputs: object[] = [];
  const calls = await readEarlierCalls(deps, call, run);
  if (calls.size > 0) {
    for (const event of await readEvents(deps, run.run_id, call.request.principal.ownerId)) {
      if (event.type !== 'run_item' || event.item.kind !== 'tool_output') continue;
      const question = calls.get(event.item.callId)?.askedBy ?? null;
      if (question === null) continue;
      const callId = toCallId(question);
      const id = `fco_${callId.slice('call_'.length)}`;
      outputs.push({ id, type: 'function_call_output', call_id: callId, output: event.item.text, status: 'completed' });
    }
  }
  const message = await deps.runReads.userMessage(run);
  const content = [
    ...(message === null || message.text === '' ? [] : [{ type: 'input_text', text: message.text }]),
    ...(message?.attachments ?? []).map(attachmentJson),
  ];
  const id = `msg_${run.run_id.slice('run_'.length)}`;
  const own = content.length === 0 ? [] : [{ id, type: 'message', role: 'user', status: 'completed', content }];
  const { order } = call.request.query as { readonly order?: string };
  return itemList(order === 'asc' ? [...outputs, ...own] : [...own, ...outputs.toReversed()]);
}

/** A whole list in the form of a page. */
export function itemList(data: readonly object[]) {
  const ids = data.map((item) => (item as { readonly id: string }).id);
  return { object: 'list', data, first_id: ids[0] ?? null, last_id: ids.at(-1) ?? null, has_more: false };
}
