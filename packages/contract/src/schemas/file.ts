import { count, named, nullable, oneOfStrings, text, time, toList } from './kit.ts';
import { Type } from './type.ts';

export const File = named(
  'File',
  Type.Object(
    {
      name: text('Name of the file or folder: the last segment of `path`.'),
      path: text('Full path, as in `resource` and in `sandboxFiles`.'),
      kind: oneOfStrings(['file', 'folder'], { description: 'File or folder.' }),
      size: nullable(count('Size in bytes. Null for a folder.')),
      etag: nullable(text('Entity tag of the content, in quotes. Null for a folder.')),
      contentType: nullable(text('Media type that was given when the file was uploaded. Null for a folder.')),
      modifiedAt: nullable(time('When the file was last written. Null for a folder.')),
    },
    { description: 'A file or folder of an integration.' },
  ),
);

export const FileList = toList('FileList', File);
const change = () => oneOfStrings(['created', 'changed', 'deleted'], { description: 'What happened to the file.' });
const changedPath = () => text('Full path of the file below `/app/mnt/`.');
const changedType = () => text('Content type of the file, detected from its name and its bytes.');
const changedSize = () => count('Size of the file in bytes; 0 if it was deleted.');

/** The names of `messages.files` are those of stream frames. */
export const StreamChangedFile = named(
  'StreamChangedFile',
  Type.Object(
    {
      name: text('Name of the file.'),
      path: changedPath(),
      mime_type: changedType(),
      size_bytes: changedSize(),
      change: change(),
    },
    { description: 'A file that the run created, changed or deleted.' },
  ),
);

export const ChangedFile = named(
  'ChangedFile',
  Type.Object(
    {
      name: text('Name of the file.'),
      path: changedPath(),
      contentType: changedType(),
      size: changedSize(),
      change: change(),
    },
    { description: 'A file that a step created, changed or deleted.' },
  ),
);
