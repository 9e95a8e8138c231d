import { FileList } from '../file.ts';
import { ref } from '../kit.ts';
import { bodyRefusals, integrationPath, integrationRefusals, operation, pageQuery, refusals } from '../operation.ts';
import { Type } from '../type.ts';
import { CreateAgencyUploadRequest, CreateAgencyUploadResponse } from '../upload.ts';

const params = Type.Object({ apiIntegrationId: Type.String() });
const filePath = Type.String({ description: 'The whole path of a file below `/app/mnt/`.' });

export const createAgencyUpload = operation({
  operationId: 'createAgencyUpload',
  method: 'POST',
  path: '/create_agency_upload',
  summary: 'Sign a form for uploading a file',
  description:
    'Signs a form for uploading a file into the persistent agency storage of an API integration. The form is valid for ' +
    '15 minutes. Post it to `uploadUrl` as multipart/form-data: every entry of `uploadFields` in order, `file` last.',
  tags: ['Files'],
  auth: true,
  body: ref(CreateAgencyUploadRequest),
  responses: {
    200: { description: 'The signed form.', schema: ref(CreateAgencyUploadResponse) },
    ...bodyRefusals(),
    ...refusals(401, 403, 404, 409, 500, 503),
  },
});

export const listFiles = operation({
  operationId: 'listFiles',
  method: 'GET',
  path: `${integrationPath}/files`,
  summary: 'List the files and folders of a folder, by name',
  description:
    'What lies right below the folder, in the order of the UTF-8 bytes of the names. Of a folder `size`, `etag`, ' +
    '`contentType` and `modifiedAt` are null.',
  tags: ['Files'],
  auth: true,
  params,
  query: Type.Object({
    folder: Type.Optional(Type.String({ default: '/app/mnt', description: 'The whole path of the folder.' })),
    ...pageQuery,
  }),
  responses: { 200: { description: 'A page of files and folders.', schema: ref(FileList) }, ...integrationRefusals() },
});

const headers = {
  ETag: Type.String({ description: 'Of these bytes: another upload has another.' }),
  'Last-Modified': Type.String(),
  'Accept-Ranges': Type.String(),
  'Content-Disposition': Type.String({ description: '`attachment`, with the name of the file.' }),
};

const unchangedHeaders = {
  ETag: headers.ETag,
  'Last-Modified': headers['Last-Modified'],
  'Accept-Ranges': headers['Accept-Ranges'],
};

const conditions = {
  'if-none-match': Type.Optional(Type.String({ description: '`ETag`s: where one is the file’s, the answer is 304.' })),
  'if-modified-since': Type.Optional(Type.String({ description: 'Counts where there is no `If-None-Match`.' })),
};

const ranges = {
  range: Type.Optional(Type.String({ description: 'One range of bytes; several, or another unit, are ignored.' })),
  'if-range': Type.Optional(Type.String({ description: 'An `ETag`: the range counts only while it is the file’s.' })),
};

/** The media types of file answers; a file of any other type is sent as `application/octet-stream`. */
const fileTypes = [
  'application/octet-stream',
  'application/pdf',
  'image/gif',
  'image/jpeg',
  'image/png',
  'image/webp',
  'text/csv',
  'text/plain',
];

const contentDescription =
  'Types that a browser might run are given as `application/octet-stream`; `Content-Disposition` is always `attachment`.';

export const getFileContent = operation({
  operationId: 'getFileContent',
  method: 'GET',
  path: `${integrationPath}/files/content`,
  summary: 'Read a file',
  description: contentDescription,
  tags: ['Files'],
  auth: true,
  params,
  query: Type.Object({ path: filePath }),
  headers: Type.Object({ ...ranges, ...conditions }),
  responses: {
    200: {
      description: 'The bytes of the file.',
      schema: Type.String({ format: 'binary' }),
      contentTypes: fileTypes,
      headers,
    },
    206: {
      description: 'The bytes of the range.',
      schema: Type.String({ format: 'binary' }),
      contentTypes: fileTypes,
      headers: { ...headers, 'Content-Range': Type.String() },
    },
    304: { description: 'The caller has these bytes already.', headers: unchangedHeaders },
    ...integrationRefusals(),
    ...refusals(416),
  },
});

export const headFileContent = operation({
  operationId: 'headFileContent',
  method: 'HEAD',
  path: `${integrationPath}/files/content`,
  summary: 'Ask what reading a whole file would answer',
  description: `${contentDescription} A range is ignored.`,
  tags: ['Files'],
  auth: true,
  params,
  query: Type.Object({ path: filePath }),
  headers: Type.Object(conditions),
  responses: {
    200: { description: 'There is such a file.', headers },
    304: { description: 'The caller has these bytes already.', headers: unchangedHeaders },
    ...integrationRefusals(),
  },
});

export const deleteFile = operation({
  operationId: 'deleteFile',
  method: 'DELETE',
  path: `${integrationPath}/files`,
  summary: 'Delete a file, or a folder with all that is in it',
  tags: ['Files'],
  auth: true,
  params,
  query: Type.Object({
    path: Type.String({ description: 'The whole path of a file or folder below `/app/mnt/`.' }),
    recursive: Type.Optional(Type.Boolean({ description: '`true`: a folder is deleted with all that is in it.' })),
  }),
  responses: { 204: { description: 'It is deleted.' }, ...integrationRefusals() },
});
