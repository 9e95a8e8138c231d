import type { ModelRequest } from '@runwire/test-kit';

type Prompt = ModelRequest['prompt'];

/** Why OpenAI would answer 400 to this prompt; null where it would not. */
export function refusedByOpenAi(prompt: Prompt): string | null {
  const open = new Set<string>();
  const known = new Set<string>();
  for (const item of prompt) {
    switch (item.kind) {
      case 'tool_call':
        if (item.callId === '' || known.has(item.callId)) return `Duplicate call id ${JSON.stringify(item.callId)}.`;
        known.add(item.callId);
        open.add(item.callId);
        break;
      case 'tool_output':
        if (!open.delete(item.callId)) return `No tool call found for function call output ${item.callId}.`;
        break;
      default:
        if (open.size > 0) return `No tool output found for function call ${[...open].join(', ')}.`;
        if (item.kind === 'assistant' && item.text.trim() === '') return 'An assistant message is empty.';
    }
  }
  if (open.size > 0) return `No tool output found for function call ${[...open].join(', ')}.`;
  // Within a turn the outputs of tools stand last.
  const last = prompt.at(-1)?.kind;
  return last === 'user' || last === 'tool_output' ? null : 'The last message is neither of the user nor of a tool.';
}
