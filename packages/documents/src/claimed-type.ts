/** What the name and the `Content-Type` claim about a file. */
export interface Claims {
  /** A kind that is never text, such as `a PDF`. Null if none is claimed. */
  readonly binary: string | null;
  readonly html: boolean;
  /** True for any kind of text, including HTML. */
  readonly text: boolean;
  /** A text's type, from our own list and never the header's text. */
  readonly textType: string;
  readonly charset: string | null;
}

const BINARY_BY_EXTENSION: Readonly<Record<string, string>> = {
  pdf: 'a PDF',
  doc: 'a Word document',
  docx: 'a Word document',
  docm: 'a Word document',
  dotx: 'a Word document',
  xls: 'a spreadsheet',
  xlsx: 'a spreadsheet',
  xlsm: 'a spreadsheet',
  xltx: 'a spreadsheet',
  png: 'an image',
  jpg: 'an image',
  jpeg: 'an image',
  gif: 'an image',
  webp: 'an image',
};

const BINARY_BY_TYPE: readonly (readonly [RegExp, string])[] = [
  [/^application\/(?:x-)?pdf$/, 'a PDF'],
  [
    /^application\/(?:msword$|vnd\.ms-word\.|vnd\.openxmlformats-officedocument\.wordprocessingml\.)/,
    'a Word document',
  ],
  [/^application\/vnd\.(?:ms-excel\.|openxmlformats-officedocument\.spreadsheetml\.)/, 'a spreadsheet'],
  [/^image\/(?!svg\+xml$)/, 'an image'],
];

export const CSV_TYPE = 'text/csv';

const TEXT_BY_EXTENSION: Readonly<Record<string, string>> = {
  csv: CSV_TYPE,
  tsv: 'text/tab-separated-values',
  tab: 'text/tab-separated-values',
  md: 'text/markdown',
  markdown: 'text/markdown',
  json: 'application/json',
  xml: 'application/xml',
  svg: 'image/svg+xml',
  yaml: 'application/yaml',
  yml: 'application/yaml',
  txt: 'text/plain',
  log: 'text/plain',
};
const TEXT_TYPES = new Set(Object.values(TEXT_BY_EXTENSION));
const OTHER_NAMES: Readonly<Record<string, string>> = {
  'text/xml': 'application/xml',
  'text/yaml': 'application/yaml',
  'text/x-markdown': 'text/markdown',
  'text/json': 'application/json',
  'text/x-csv': CSV_TYPE,
  'application/csv': CSV_TYPE,
};
const HTML_EXTENSIONS = new Set(['html', 'htm', 'xhtml']);
const HTML_TYPES = new Set(['text/html', 'application/xhtml+xml']);

export function listClaims(contentType: string | null, name: string): Claims {
  const type = (contentType ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
  const extension = /\.([a-z0-9]{1,10})$/i.exec(name)?.[1]?.toLowerCase() ?? '';
  const byName = TEXT_BY_EXTENSION[extension];
  const known = OTHER_NAMES[type] ?? type;
  const binary = BINARY_BY_EXTENSION[extension] ?? BINARY_BY_TYPE.find(([pattern]) => pattern.test(type))?.[1] ?? null;
  // The name takes precedence over the header, because many servers label everything as HTML.
  const html = HTML_EXTENSIONS.has(extension) || (byName === undefined && HTML_TYPES.has(type));
  return {
    binary,
    html,
    text: binary === null && (html || byName !== undefined || TEXT_TYPES.has(known) || type.startsWith('text/')),
    textType: byName ?? (TEXT_TYPES.has(known) ? known : 'text/plain'),
    charset: /;\s*charset\s*=\s*"?([\w.:+-]{1,40})"?/i.exec(contentType ?? '')?.[1]?.toLowerCase() ?? null,
  };
}
