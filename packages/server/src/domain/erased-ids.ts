import { createHmac, hkdfSync } from 'node:crypto';
import type { ChatId, IntegrationId } from './ids.ts';
import type { MountPath } from './mount-path.ts';

const PREFIX = 'erased_';
/** The range of all ids that replaced others. */
export const ERASED_IDS = { from: PREFIX, to: 'erased`' } as const;
/** For ids that only have to look different. */
const DIGITS = 16;
/** For an id with a unique index. */
const UNIQUE_DIGITS = 32;

/**
 * Replaces the texts by which callers named a person. The same text always gets the same id, and no reader can find the text
 * of an id without the secret of the installation (`contract-6-erasure-replaced`).
 */
export class ErasedIds {
  readonly #key: Uint8Array;

  constructor(secret: string) {
    this.#key = new Uint8Array(hkdfSync('sha256', secret, '', 'runwire erasure', 32));
  }

  consumer(integrationId: IntegrationId, consumerId: string): string {
    return this.#id('consumer', integrationId, consumerId, DIGITS);
  }

  chat(integrationId: IntegrationId, chatId: ChatId): ChatId {
    return this.#id('chat', integrationId, chatId, DIGITS) as ChatId;
  }

  /** An erased run keeps this in place of its `usageRequestId`, so that the id is never used twice. */
  usageRequest(integrationId: IntegrationId, usageRequestId: string): string {
    return this.#id('usageRequest', integrationId, usageRequestId, UNIQUE_DIGITS);
  }

  folder(integrationId: IntegrationId, folder: MountPath): string {
    return this.#id('folder', integrationId, folder, UNIQUE_DIGITS);
  }

  #id(kind: string, integrationId: IntegrationId, text: string, digits: number): string {
    const hmac = createHmac('sha256', this.#key).update(JSON.stringify([kind, integrationId, text]));
    return `${PREFIX}${hmac.digest('hex').slice(0, digits)}`;
  }
}
