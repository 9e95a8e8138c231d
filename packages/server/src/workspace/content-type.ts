import { imageType, listClaims, sniff } from '@runwire/documents';

const OFFICE = 'application/vnd.openxmlformats-officedocument';
/** Types of files that are packed or binary, by the ends of their names. */
const BY_EXTENSION: Readonly<Record<string, string>> = {
  docx: `${OFFICE}.wordprocessingml.document`,
  xlsx: `${OFFICE}.spreadsheetml.sheet`,
  pptx: `${OFFICE}.presentationml.presentation`,
  zip: 'application/zip',
  gz: 'application/gzip',
  tar: 'application/x-tar',
  mp3: 'audio/mpeg',
  wav: 'audio/wav',
  mp4: 'video/mp4',
  webm: 'video/webm',
  sqlite: 'application/vnd.sqlite3',
  parquet: 'application/vnd.apache.parquet',
};
const ANY_BYTES = 'application/octet-stream';

/** Returns the content type of a file by its first bytes and its name. */
export function getContentType(start: Uint8Array, name: string): string {
  const image = imageType(start);
  if (image !== null) return image;
  const claims = listClaims(null, name);
  const byName = BY_EXTENSION[/\.([a-z0-9]{1,10})$/i.exec(name)?.[1]?.toLowerCase() ?? ''];
  switch (sniff(start, claims)) {
    case 'pdf':
      return 'application/pdf';
    case 'zip':
      return byName ?? 'application/zip';
    case 'rtf':
      return 'application/rtf';
    case 'html':
      return claims.text && !claims.html ? claims.textType : 'text/html';
    case 'text':
      return claims.textType;
    case 'compound':
    case 'unknown':
      return byName ?? ANY_BYTES;
  }
}
