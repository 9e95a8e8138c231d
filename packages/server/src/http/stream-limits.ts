import type { ServerResponse } from 'node:http';
import type { Caller } from '../domain/account/caller.ts';
import { Refusal } from '../domain/refusal.ts';

/** How many streams may be open on this node. */
export interface StreamCounts {
  readonly streamsPerMember: number;
  readonly streamsPerKey: number;
  readonly streamsPerOwner: number;
}

const RETRY_SECONDS = 1;

/**
 * Counts the open streams of members, keys and owners. A stream that was opened with a client token counts for its member
 * and its owner, not for the key that minted the token: pages in browsers take nothing from the backend's own key.
 */
export class StreamLimits {
  readonly #limits: StreamCounts;
  readonly #open = new Map<string, number>();

  constructor(limits: StreamCounts) {
    this.#limits = limits;
  }

  /**
   * Counts the answer as an open stream until it closes, whatever it becomes: a stream, a refusal or a cut connection.
   * Throws a `Refusal` if a limit is reached.
   */
  add({ principal, clientToken }: Caller, answer: ServerResponse): void {
    // `close` was emitted already: nothing would end the count.
    if (answer.destroyed) return;
    const { streamsPerMember, streamsPerKey, streamsPerOwner } = this.#limits;
    const owner = `owner ${principal.ownerId}`;
    const caller =
      clientToken === null
        ? `key ${principal.key.keyId}`
        : `member ${clientToken.integrationId}\n${clientToken.consumerId}`;
    if (clientToken !== null) this.#check(caller, streamsPerMember, 'The member of this client token');
    else this.#check(caller, streamsPerKey, 'This API key');
    this.#check(owner, streamsPerOwner, 'The owner of this API key');
    this.#change(owner, 1);
    this.#change(caller, 1);
    answer.once('close', () => {
      this.#change(owner, -1);
      this.#change(caller, -1);
    });
  }

  #check(counted: string, limit: number, name: string): void {
    if ((this.#open.get(counted) ?? 0) < limit) return;
    const sentence = `${name} has ${limit} open streams on this server, which is the limit; close one, or wait until one of them ends.`;
    throw new Refusal('too_many_streams', sentence, {}, RETRY_SECONDS);
  }

  #change(counted: string, by: number): void {
    const count = (this.#open.get(counted) ?? 0) + by;
    if (count === 0) this.#open.delete(counted);
    else this.#open.set(counted, count);
  }
}
