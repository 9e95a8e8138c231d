import type { JSONRPCMessage } from '@modelcontextprotocol/client';

/** The characters that all pages of a list of tools may have together. 5 000 tools have about 10 million. */
const MAX_LIST_CHARACTERS = 32 * 1024 * 1024;

type Id = string | number;

/** Ends a list of tools that grows without end: the SDK collects all pages in memory. */
export class ListLimit {
  readonly #maxCharacters: number;
  readonly #requests = new Set<Id>();
  #characters = 0;

  constructor(maxCharacters = MAX_LIST_CHARACTERS) {
    this.#maxCharacters = maxCharacters;
  }

  /** Called with each message to the server. */
  sent(message: JSONRPCMessage): void {
    if (!('method' in message) || !('id' in message) || message.method !== 'tools/list') return;
    if (message.params?.cursor === undefined) this.#characters = 0;
    this.#requests.add(message.id);
  }

  /** Returns the message, or an error in its place. `characters` is the size of the message. */
  received(message: JSONRPCMessage, characters: () => number): JSONRPCMessage {
    if ('method' in message || message.id === undefined || !this.#requests.delete(message.id)) return message;
    this.#characters += characters();
    if (this.#characters <= this.#maxCharacters) return message;
    const error = { code: -32_051, message: `The list of tools has more than ${this.#maxCharacters} characters.` };
    return { jsonrpc: '2.0', id: message.id, error };
  }
}
