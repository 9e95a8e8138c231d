import type { PromptImage } from '@runwire/models';
import type { ToolOutputItem } from '../domain/run/events.ts';
import type { GivenImage, StoredImages, ToolImage } from '../domain/run/tool-image.ts';
import type { PromptItem } from './ports.ts';

/** The images that a run's tools return. */
export interface OutputImages {
  /** Resolves when the images are durable. Rejects if the run stops. */
  store(images: readonly GivenImage[]): Promise<StoredImages>;
  /** Keeps images that another run has stored. */
  adopt(images: readonly ToolImage[]): Promise<StoredImages>;
  /** As models get them. Their bytes are read when they are sent. */
  show(images: readonly ToolImage[]): readonly PromptImage[];
}

/** A call's outcome as models get it. */
export function outputItem(
  { callId, text, images }: Pick<ToolOutputItem, 'callId' | 'text' | 'images'>,
  shownBy: Pick<OutputImages, 'show'>,
): PromptItem {
  const item = { kind: 'tool_output' as const, callId, output: text };
  return images === undefined ? item : { ...item, images: shownBy.show(images) };
}
