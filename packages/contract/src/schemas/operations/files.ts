import { FileList } from '../file.ts';
import { flag, ref, text } from '../kit.ts';
import {
  bodyRefusals,
  integrationParams,
  integrationPath,
  integrationRefusals,
  operation,
  pageQuery,
  refusals,
} from '../operation.ts';
import { Type } from '../type.ts';
import { CreateAgencyUploadRequest, CreateAgencyUploadResponse } from '../upload.ts';
import { file, integrationExample, json, page } from './examples.ts';

const params = Type.Object(integrationParams);
const filePath = text('Full path of a file below `/app/mnt/`.');
const fileExample = { params: integrationExample, query: { path: file.path } };

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
  returnsSecret: true,
  clientToken: 'upload',
  body: ref(CreateAgencyUploadRequest),
  example: {
    body: {
      apiIntegrationId: 'demo',
      folder: '/app/mnt/users/42',
      filename: 'a.png',
      contentType: 'image/png',
      sizeBytes: 1024,
    },
    status: 200,
    answer: json({
      resource: file.path,
      uploadUrl: 'https://agents.example.com/uploads/demo',
      uploadFields: {
        key: 'users/42/a.png',
        'Content-Type': 'image/png',
        'X-Amz-Algorithm': 'AWS4-HMAC-SHA256',
        'X-Amz-Credential': 'runwire-1/20300101/us-east-1/s3/aws4_request',
        'X-Amz-Date': '20300101T090000Z',
        Policy: 'eyJleHBpcmF0aW9uIjoi…',
        'X-Amz-Signature': '5d672d79c15b13162d9279b0855cfba6…',
      },
    }),
  },
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
  description: 'Lists the files and folders directly below the folder, in the order of the UTF-8 bytes of their names.',
  tags: ['Files'],
  auth: true,
  clientToken: 'files',
  params,
  query: Type.Object({
    folder: Type.Optional(text('Full path of the folder.', { default: '/app/mnt' })),
    ...pageQuery,
  }),
  example: {
    params: integrationExample,
    query: { folder: '/app/mnt/users/42', limit: 50 },
    status: 200,
    answer: page(file),
  },
  responses: { 200: { description: 'A page of files and folders.', schema: ref(FileList) }, ...integrationRefusals() },
});

const headers = {
  ETag: text('Entity tag of the content; it changes with every upload.'),
  'Last-Modified': text('When the file was last written.'),
  'Accept-Ranges': text('`bytes`.'),
  'Content-Disposition': text("`attachment`, with the file's name."),
};

const unchangedHeaders = {
  ETag: headers.ETag,
  'Last-Modified': headers['Last-Modified'],
  'Accept-Ranges': headers['Accept-Ranges'],
};

const conditions = {
  'if-none-match': Type.Optional(text('Entity tags. If one is the tag of the file, the answer is 304.')),
  'if-modified-since': Type.Optional(
    text('If the file was not written after this time, the answer is 304. Ignored if `If-None-Match` is sent.'),
  ),
};

const ranges = {
  range: Type.Optional(text('One range of bytes. Several ranges, or another unit, are ignored.')),
  'if-range': Type.Optional(text('An entity tag. If it is not the tag of the file, the range is ignored.')),
};

/** Media types of answers with a file. A file of any other type is sent as `application/octet-stream`. */
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
  'Types that a browser might execute are sent as `application/octet-stream`. `Content-Disposition` is always ' +
  '`attachment`.';

export const getFileContent = operation({
  operationId: 'getFileContent',
  method: 'GET',
  path: `${integrationPath}/files/content`,
  summary: 'Read a file',
  description: contentDescription,
  tags: ['Files'],
  auth: true,
  clientToken: 'files',
  params,
  query: Type.Object({ path: filePath }),
  headers: Type.Object({ ...ranges, ...conditions }),
  example: { ...fileExample, status: 200, answer: { 'text/plain': 'Notes of today' } },
  responses: {
    200: {
      description: 'The bytes of the file.',
      schema: text('The bytes.', { format: 'binary' }),
      contentTypes: fileTypes,
      headers,
    },
    206: {
      description: 'The bytes of the range.',
      schema: text('The bytes.', { format: 'binary' }),
      contentTypes: fileTypes,
      headers: { ...headers, 'Content-Range': text('The range and the size of the file.') },
    },
    304: { description: 'The caller has the current content.', headers: unchangedHeaders },
    ...integrationRefusals(),
    ...refusals(416),
  },
});

export const headFileContent = operation({
  operationId: 'headFileContent',
  method: 'HEAD',
  path: `${integrationPath}/files/content`,
  summary: 'Read the headers of a file',
  description: `${contentDescription} A range is ignored.`,
  tags: ['Files'],
  auth: true,
  clientToken: 'files',
  params,
  query: Type.Object({ path: filePath }),
  headers: Type.Object(conditions),
  example: { ...fileExample, status: 200 },
  responses: {
    200: { description: 'The file exists.', headers },
    304: { description: 'The caller has the current content.', headers: unchangedHeaders },
    ...integrationRefusals(),
  },
});

export const deleteFile = operation({
  operationId: 'deleteFile',
  method: 'DELETE',
  path: `${integrationPath}/files`,
  summary: 'Delete a file, or a folder with its content',
  tags: ['Files'],
  auth: true,
  params,
  query: Type.Object({
    path: text('Full path of a file or folder below `/app/mnt/`.'),
    recursive: Type.Optional(flag('If true, a folder is deleted with its content.')),
  }),
  example: { ...fileExample, status: 204 },
  responses: { 204: { description: 'The file or folder was deleted.' }, ...integrationRefusals() },
});
