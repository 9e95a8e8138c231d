import type { ChatKey } from '../domain/ids.ts';
import type { Answerer, StoredAnswer } from '../domain/question/question.ts';
import { Refusal } from '../domain/refusal.ts';
import { iso } from '../domain/time.ts';
import { forgetTool, rememberedApprovals } from '../store/queries/asked-questions.ts';
import type { Reads, Tx } from '../store/store.ts';

/** A tool whose calls do not ask in a chat, and who allowed it. */
export interface ChatApproval {
  readonly tool: string;
  readonly by: Answerer;
  readonly at: string | null;
}

/** Reads the approvals of these chats. Of two answers that allowed a tool together, the first counts. */
export async function readApprovals(
  reads: Reads,
  chatKeys: readonly ChatKey[],
): Promise<(chatKey: ChatKey) => readonly ChatApproval[]> {
  const rows = chatKeys.length === 0 ? [] : await reads.query(rememberedApprovals(chatKeys));
  const byChat = new Map<ChatKey, Map<string, ChatApproval>>();
  for (const { chat_key: chatKey, remembered_tool: tool, answer_json: answer, settled_at: at } of rows) {
    const ofChat = byChat.get(chatKey) ?? new Map<string, ChatApproval>();
    byChat.set(chatKey, ofChat);
    if (!ofChat.has(tool)) ofChat.set(tool, { tool, by: (JSON.parse(answer) as StoredAnswer).by, at: iso(at) });
  }
  return (chatKey) => [...(byChat.get(chatKey)?.values() ?? [])];
}

/** Removes the other approvals of the chat. Throws if the chat does not have an approval that should remain. */
export async function keepApprovals(tx: Tx, chatKey: ChatKey, kept: readonly { readonly tool: string }[]) {
  const known = (await readApprovals(tx, [chatKey]))(chatKey);
  const names = new Set(kept.map(({ tool }) => tool));
  for (const [index, { tool }] of kept.entries()) {
    if (known.some((one) => one.tool === tool)) continue;
    const sentence = `\`approvals[${index}].tool\` is \`${tool}\`, which is not allowed in this chat; only an answer with \`remember\` can allow it.`;
    throw new Refusal('invalid_request', sentence);
  }
  for (const { tool } of known) if (!names.has(tool)) await tx.run(forgetTool, { chatKey, tool });
}
