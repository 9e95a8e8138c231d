import type { PromptItem } from './model.ts';
import type { PromptAttachment } from './prompt-attachment.ts';
import { shownMessage } from './shown-message.ts';
import { IMAGE_TEXT_BYTES } from './usage.ts';

/** Returns the texts' bytes. An image or a page of a PDF counts as much text as has the same number of tokens. */
export function promptBytes(instructions: string, prompt: readonly PromptItem[]): number {
  let bytes = Buffer.byteLength(instructions);
  for (const item of prompt) {
    if (item.kind === 'tool_call') bytes += Buffer.byteLength(item.arguments);
    else if (item.kind === 'tool_output') {
      bytes += Buffer.byteLength(item.output) + (item.images?.length ?? 0) * IMAGE_TEXT_BYTES;
    } else if (item.kind === 'assistant') bytes += Buffer.byteLength(item.text);
    else {
      bytes += Buffer.byteLength(shownMessage(item.text, item.sandboxFiles));
      for (const one of item.attachments ?? []) bytes += attachmentBytes(one);
    }
  }
  return bytes;
}

function attachmentBytes(one: PromptAttachment): number {
  if (one.kind === 'text') return Buffer.byteLength(one.text);
  return (one.kind === 'pdf' ? one.pages : 1) * IMAGE_TEXT_BYTES;
}
