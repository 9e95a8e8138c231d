import { eitherBy, named, oneOfStrings, text } from './kit.ts';
import { Type } from './type.ts';

export const FileAttachment = named(
  'FileAttachment',
  Type.Object(
    {
      type: oneOfStrings(['input_file'], { description: 'Discriminator.' }),
      file_url: text(
        'Publicly accessible HTTPS URL of the file, at most 8192 characters. The server fetches it when the run starts. ' +
          'Messages that are read back contain it without query and fragment, which is also the key in ' +
          '`attachmentUrlRefreshes`.',
        { format: 'uri' },
      ),
      filename: Type.Optional(
        text(
          'File name without a directory path: one segment of at most 255 bytes, without control characters. If it is ' +
            'omitted, the last segment of the URL is used.',
        ),
      ),
    },
    { additionalProperties: false, description: 'A file by URL.' },
  ),
);

export const ImageAttachment = named(
  'ImageAttachment',
  Type.Object(
    {
      type: oneOfStrings(['input_image'], { description: 'Discriminator.' }),
      image_url: text(
        'Publicly accessible HTTPS image URL, or an inline image data URL: `data:image/png;base64,…`, strict base64 of a ' +
          'PNG, JPEG, GIF or WebP image. Messages that are read back contain a URL without query and fragment, and an ' +
          'inline image as a data URL without data: `data:image/png;sha256=…;bytes=…,`.',
        { minLength: 1 },
      ),
      detail: Type.Optional(
        oneOfStrings(['auto', 'low', 'high'], {
          default: 'auto',
          description: 'Resolution in which the model sees the image.',
        }),
      ),
    },
    { additionalProperties: false, description: 'An image by URL or inline.' },
  ),
);

export const Attachment = named(
  'Attachment',
  eitherBy('type', [FileAttachment, ImageAttachment], 'A file or an image of a message, discriminated by `type`.'),
);
