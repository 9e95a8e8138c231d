import { maxFileBytes } from '../limits.ts';
import { fileName, mapOf, named } from './kit.ts';
import { Type } from './type.ts';

export const CreateAgencyUploadRequest = named(
  'CreateAgencyUploadRequest',
  Type.Object({
    apiIntegrationId: Type.String({ description: 'Integration identifier.' }),
    folder: Type.String({ description: 'Canonical folder below /app/mnt/, chosen by your server for the app member.' }),
    filename: Type.String({
      minLength: 1,
      pattern: fileName,
      description: 'Not blank; no directory separators; no control characters.',
    }),
    contentType: Type.String({
      minLength: 1,
      maxLength: 255,
      description: 'Media type of the file: `type/subtype` with optional parameters.',
    }),
    sizeBytes: Type.Integer({ minimum: 1, maximum: maxFileBytes, description: 'Number of file bytes to upload.' }),
  }),
);

export const CreateAgencyUploadResponse = named(
  'CreateAgencyUploadResponse',
  Type.Object({
    resource: Type.String({
      description: 'The canonical path to pass as `path` in a `sandboxFiles` item of a completion request.',
    }),
    uploadUrl: Type.String({ format: 'uri', description: 'Address to which the file is posted.' }),
    uploadFields: mapOf(Type.String(), {
      description: 'Form fields to send with the upload, in this order, before the field `file`.',
    }),
  }),
);
