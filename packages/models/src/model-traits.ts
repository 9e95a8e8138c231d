import { bracketedOutput } from '@runwire/lib/bracketed-images.ts';
import type { ModelRequest, PromptItem } from './model.ts';
import type { PromptAttachment } from './prompt-attachment.ts';
import type { ModelTraits } from './providers.ts';

/** Changes a request to fit what `providers.yaml` declares about the model: no images, and the longest answer. */
export function fittingRequest(request: ModelRequest, { images, maxOutputTokens }: ModelTraits): ModelRequest {
  const asked = request.settings?.maxOutputTokens;
  const isTooLong = asked !== undefined && maxOutputTokens !== undefined && asked > maxOutputTokens;
  if (images !== false && !isTooLong) return request;
  return {
    ...request,
    ...(images === false ? { prompt: request.prompt.map(withoutImages) } : {}),
    ...(isTooLong ? { settings: { ...request.settings, maxOutputTokens } } : {}),
  };
}

function withoutImages(item: PromptItem): PromptItem {
  if (item.kind === 'tool_output' && item.images !== undefined) {
    const { images, ...text } = item;
    return { ...text, output: bracketedOutput(item.output, images) };
  }
  if (item.kind !== 'user' || item.attachments === undefined) return item;
  return { ...item, attachments: item.attachments.map(shownAsText) };
}

function shownAsText(one: PromptAttachment): PromptAttachment {
  if (one.kind !== 'image') return one;
  const { name, mediaType } = one;
  return { kind: 'text', name: name ?? '', mediaType, text: unseenImageText(name) };
}

/** Shown to a model that cannot see images. */
function unseenImageText(name: string | null): string {
  return `[The user attached ${name === null ? 'an image' : `the image ${JSON.stringify(name)}`}. This model cannot see images.]`;
}
