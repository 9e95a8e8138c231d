import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { type LeftOutTool, toolProblem } from './tool-problem.ts';

/** The characters that all pages of a list of tools may have together. 5 000 tools have about 10 million. */
const MAX_LIST_CHARACTERS = 32 * 1024 * 1024;

type Id = string | number;

/**
 * Checks lists of tools before the SDK reads them. A list that grows without end is refused, because the SDK collects all
 * pages in memory. A tool that cannot be used is left out, because the SDK would refuse the whole list.
 */
export class ToolLists {
  readonly #maxCharacters: number;
  readonly #requests = new Set<Id>();
  #characters = 0;
  #leftOut: LeftOutTool[] = [];

  constructor(maxCharacters = MAX_LIST_CHARACTERS) {
    this.#maxCharacters = maxCharacters;
  }

  /** Called with each message to the server. */
  sent(message: JSONRPCMessage): void {
    if (!('method' in message) || !('id' in message) || message.method !== 'tools/list') return;
    if (message.params?.cursor === undefined) {
      this.#characters = 0;
      this.#leftOut = [];
    }
    this.#requests.add(message.id);
  }

  /** The tools that are missing in the last list. */
  get leftOut(): readonly LeftOutTool[] {
    return this.#leftOut;
  }

  /** Returns the message without the tools that cannot be used, or an error in its place. `characters` is its size. */
  received(message: JSONRPCMessage, characters: () => number): JSONRPCMessage {
    if ('method' in message || message.id === undefined || !this.#requests.delete(message.id)) return message;
    this.#characters += characters();
    if (this.#characters <= this.#maxCharacters) return this.#withoutUnusable(message);
    const error = { code: -32_051, message: `The list of tools has more than ${this.#maxCharacters} characters.` };
    return { jsonrpc: '2.0', id: message.id, error };
  }

  #withoutUnusable(message: JSONRPCMessage): JSONRPCMessage {
    if (!('result' in message) || !Array.isArray(message.result.tools)) return message;
    const tools = message.result.tools.filter((tool: unknown) => {
      const leftOut = toolProblem(tool);
      if (leftOut !== null) this.#leftOut.push(leftOut);
      return leftOut === null;
    });
    return { ...message, result: { ...message.result, tools } };
  }
}
