import { promptBytes } from '@runwire/models';
import type { ModelTool, PromptItem } from './ports.ts';

const bytesByTools = new WeakMap<readonly ModelTool[], number>();

/** An agent has the same list in all its runs. */
export function toolsBytes(tools: readonly ModelTool[]): number {
  let bytes = bytesByTools.get(tools);
  if (bytes === undefined) {
    const text = JSON.stringify(tools.map(({ name, description, inputSchema }) => [name, description, inputSchema]));
    bytes = Buffer.byteLength(text);
    bytesByTools.set(tools, bytes);
  }
  return bytes;
}

/** The size by which a rebuilt prompt and the sent prompt are compared. */
export const sentBytes = (instructions: string, prompt: readonly PromptItem[], tools: readonly ModelTool[]): number =>
  promptBytes(instructions, prompt) + toolsBytes(tools);
