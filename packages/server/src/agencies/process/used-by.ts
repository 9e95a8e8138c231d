import type { Question, UsedBy } from './messages.ts';

/** Returns which use of the code a question is, as logs and `/v2/agencies` show it. */
export function toUsedBy(ask: Question): UsedBy {
  const { kind: use } = ask;
  const unknown = { use, part: null, tool: null, callId: null, runId: null };
  switch (ask.kind) {
    case 'call': {
      const { callId, idempotencyKey } = ask.call;
      const runId = idempotencyKey.slice(0, -callId.length - 1);
      return { use, part: ask.tool, tool: toolName(ask.tool), callId, runId };
    }
    case 'approval':
      return { ...unknown, part: ask.tool, tool: toolName(ask.tool), callId: ask.call.toolCallId };
    case 'check':
      return {
        ...unknown,
        part: ask.schema,
        tool: ask.schema.startsWith('tool ') ? toolName(ask.schema.slice(5)) : null,
      };
    case 'instructions':
      return { ...unknown, part: ask.agent };
    case 'guardrail':
      return { ...unknown, part: ask.guardrail };
    case 'condition': {
      const { condition: part } = ask;
      return { ...unknown, part, tool: part.startsWith('tool ') ? toolName(part) : null };
    }
    case 'stream':
      return { ...unknown, part: ask.model };
    case 'load':
    case 'ping':
      return unknown;
  }
}

/** The reference of a tool of `agency.ts` begins with its agent, whose name may contain any character. */
const toolName = (ref: string): string => ref.slice(ref.lastIndexOf('/') + 1);
