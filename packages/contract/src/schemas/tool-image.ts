import { count, named, oneOfStrings, text } from './kit.ts';
import { Type } from './type.ts';

/** The types of images that tools return. */
export const imageTypes = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'] as const;

export const ToolAttachment = named(
  'ToolAttachment',
  Type.Object(
    {
      attachmentId: text('Identifier of the attachment within its run.'),
      mediaType: oneOfStrings(imageTypes, { description: 'Media type, detected from the bytes.' }),
      size: count('Size in bytes.'),
    },
    { description: 'An image that a tool returned.' },
  ),
);
