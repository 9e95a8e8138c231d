import { count, listOf, named, nullable, oneOfStrings, time } from './kit.ts';
import { Type } from './type.ts';

export const File = named(
  'File',
  Type.Object({
    name: Type.String(),
    path: Type.String({ description: 'The whole path, as in `resource` and in `sandboxFiles`.' }),
    kind: oneOfStrings(['file', 'folder']),
    size: nullable(count()),
    etag: nullable(Type.String()),
    contentType: nullable(Type.String()),
    modifiedAt: nullable(time()),
  }),
);

export const FileList = listOf('FileList', File);
