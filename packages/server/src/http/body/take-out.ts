import type { InlineLimits } from './inline-file.ts';
import type { ExtractedFiles } from './inline-files.ts';
import { type ImageFields, takeOutImages } from './take-out-images.ts';
import { takeOutParts } from './take-out-parts.ts';

/** What is removed from a body: our own attachments' images, or the files in messages of a compatible API. */
export type Extraction = { readonly images: ImageFields } | { readonly parts: InlineLimits };

export const takeOut = (body: unknown, extraction: Extraction): ExtractedFiles =>
  'images' in extraction ? takeOutImages(body, extraction.images) : takeOutParts(body, extraction.parts);
