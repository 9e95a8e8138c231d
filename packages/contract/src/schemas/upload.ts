import { maxFileBytes } from '../limits.ts';
import { fileName, named, recordSchema, text } from './kit.ts';
import { Type } from './type.ts';

export const CreateAgencyUploadRequest = named(
  'CreateAgencyUploadRequest',
  Type.Object(
    {
      apiIntegrationId: text('Integration identifier.'),
      folder: text('Canonical folder below /app/mnt/, chosen by your server for the app member.'),
      filename: text('Not blank; no directory separators; no control characters.', { minLength: 1, pattern: fileName }),
      contentType: text('Media type of the file: `type/subtype` with optional parameters.', {
        minLength: 1,
        maxLength: 255,
      }),
      sizeBytes: Type.Integer({ minimum: 1, maximum: maxFileBytes, description: 'Number of file bytes to upload.' }),
    },
    { description: 'The file to upload.' },
  ),
);

export const CreateAgencyUploadResponse = named(
  'CreateAgencyUploadResponse',
  Type.Object(
    {
      resource: text('The canonical path to pass as `path` in a `sandboxFiles` item of a completion request.'),
      uploadUrl: text('Address to which the file is posted.', { format: 'uri' }),
      uploadFields: recordSchema(Type.String(), {
        description: 'Form fields to send with the upload, in this order, before the field `file`.',
      }),
    },
    { description: 'A signed form for one file, valid for 15 minutes.' },
  ),
);
