import { Refusal } from './refusal.ts';

const MAX_METADATA_BYTES = 16 * 1024;

/** Members and chats have at most 16 KiB of metadata (`contract-3-member-metadata`, `contract-9-chat-more`). */
export function checkMetadata(metadata: Readonly<Record<string, unknown>>): void {
  const bytes = Buffer.byteLength(JSON.stringify(metadata));
  if (bytes <= MAX_METADATA_BYTES) return;
  throw new Refusal('invalid_request', `\`metadata\` has ${bytes} bytes as JSON; send at most ${MAX_METADATA_BYTES}.`);
}
