import type { RunItem, ToolOutputItem } from './events.ts';
import type { RunExtras } from './run-extras.ts';

/** The agent at which the root loop begins. If the agent of a lasting hand-off does not exist any more, it is the entry point. */
export function getBeginningAgent(
  { agent, extras: { begins } }: { readonly agent: string; readonly extras: Pick<RunExtras, 'begins'> },
  agents: { has(name: string): boolean } | undefined,
): string {
  return begins !== undefined && agents?.has(begins) === true ? begins : agent;
}

/** The agent with which later runs of the chat begin. Undefined if the run decides nothing about them. */
export const findLastingAgent = (items: readonly RunItem[]): string | undefined =>
  items.findLast((item): item is ToolOutputItem => item.kind === 'tool_output' && item.lasts !== undefined)?.handoff;
