/** Section 2 of `requirements/spec.ts`, written by hand: which completion requests are accepted, and which field is refused. */

const file = { type: 'input_file', file_url: 'https://example.com/a.pdf' };
const image = { type: 'input_image', image_url: 'https://example.com/a.png' };
const inline = (media: string, base64: string) => ({
  type: 'input_image',
  image_url: `data:${media};base64,${base64}`,
});
const GIF = 'R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7';
const sandboxFile = { name: 'a.txt', path: '/app/mnt/u/a.txt' };
const notStrings = [5, 0, true, false, [], ['a'], {}, { a: 1 }];

/** Fields beside a good `apiIntegrationId` and `message`. */
export const ACCEPTED: readonly Readonly<Record<string, unknown>>[] = [
  {},
  { message: '' },
  { message: '\0 \u2028 é \u{1F600}' },
  { chatId: null, aliasChatId: null, user_context: null },
  { chatId: 'c'.repeat(256) },
  { chatId: '\u{1F600}'.repeat(256) },
  { aliasChatId: 'alias' },
  { attachments: [], sandboxFiles: [], attachmentUrlRefreshes: {} },
  { attachments: Array.from({ length: 5 }, () => inline('image/gif', GIF)) },
  { attachments: [{ ...inline('image/png', '/9j/4AAQSkZJRgABAQAAAQABAAD/2Q=='), detail: 'high' }] },
  { user_context: {} },
  { user_context: '' },
  { user_context: { deep: [{ list: [1, 'a', null, { b: {} }] }], '': 0 } },
  { consumerId: '', usageRequestId: ' ' },
  { usageRequestId: 'u'.repeat(256) },
  { unknown: 5, temperature: { of: 'the room' } },
  JSON.parse('{"__proto__": {"message": 5}, "constructor": 1}'),
];

interface Refused {
  readonly body: Readonly<Record<string, unknown>>;
  readonly field: string;
}

const good = { apiIntegrationId: 'demo', message: 'Hi' };
const each = (field: string, values: readonly unknown[], named = field): Refused[] =>
  values.map((value) => ({ body: { ...good, [field]: value }, field: named }));

const tooLong = ['x'.repeat(257), '\u{1F600}'.repeat(257)];
const controls = ['\0', 'a\u001f', '\u007f', '\u0080', 'line\nend'];

export const REFUSED: readonly Refused[] = [
  { body: { message: 'Hi' }, field: 'apiIntegrationId' },
  { body: { apiIntegrationId: 'demo' }, field: 'message' },
  ...['apiIntegrationId', 'message', 'agent', 'consumerId', 'usageRequestId'].flatMap((field) =>
    each(field, [...notStrings, null]),
  ),
  ...['chatId', 'aliasChatId'].flatMap((field) => each(field, [...notStrings, '', ...tooLong, ...controls])),
  ...['consumerId', 'usageRequestId'].flatMap((field) => each(field, [...tooLong, ...controls])),
  ...each('message', ['x'.repeat(1_000_001)]),
  ...each('user_context', [5, true, [], ['a']]),
  ...each('attachments', [null, 5, 'a', {}, file, Array.from({ length: 6 }, () => file)]),
  ...each('attachments', [[null], [5], ['a'], [[]]], 'attachments[0]'),
  ...each(
    'attachments',
    [undefined, 'input_audio', '', 5, null].map((type) => [image, { ...file, type }]),
    'attachments[1].type',
  ),
  ...each(
    'attachments',
    [[{ type: 'input_file' }], [{ ...file, file_url: 5 }], [{ ...file, file_url: 'no uri' }]],
    'attachments[0].file_url',
  ),
  ...each('attachments', [[{ ...file, filename: 5 }], [{ ...file, filename: null }]], 'attachments[0].filename'),
  ...each('attachments', [[{ ...file, extra: null }]], 'attachments[0].extra'),
  ...each('attachments', [[{ ...file, detail: 'low' }], [{ ...file, detail: 'auto' }]], 'attachments[0].detail'),
  ...each('attachments', [[{ ...image, filename: 'a.png' }]], 'attachments[0].filename'),
  ...each(
    'attachments',
    [[{ type: 'input_image' }], [{ ...image, image_url: '' }], [{ ...image, image_url: null }]],
    'attachments[0].image_url',
  ),
  ...each(
    'attachments',
    [
      inline('image/gif', 'aGVsbG8='),
      inline('image/svg+xml', 'PHN2Zy8+'),
      inline('text/plain', GIF),
      inline('image/gif', `${GIF}=`),
      inline('image/gif', ` ${GIF}`),
      inline('image/gif', GIF.replace('/', '_')),
      inline('image/gif', GIF.slice(0, -1)),
      inline('image/gif', ''),
      { ...image, image_url: 'data:' },
      { ...image, image_url: 'http://example.com/a.png' },
    ].map((bad) => [inline('image/gif', GIF), bad]),
    'attachments[1].image_url',
  ),
  ...each('attachments', [[{ ...file, file_url: `data:image/gif;base64,${GIF}` }]], 'attachments[0].file_url'),
  ...each('attachments', [[{ ...image, detail: 'medium' }], [{ ...image, detail: null }]], 'attachments[0].detail'),
  ...each('sandboxFiles', [null, 5, {}, sandboxFile, Array.from({ length: 6 }, () => sandboxFile)]),
  ...each('sandboxFiles', [[null], ['a']], 'sandboxFiles[0]'),
  ...each(
    'sandboxFiles',
    [[{ path: '/app/mnt/a' }], [{ ...sandboxFile, name: 5 }], [{ ...sandboxFile, name: 'a\0' }]],
    'sandboxFiles[0].name',
  ),
  ...each('sandboxFiles', [[{ name: 'a' }], [{ ...sandboxFile, path: null }]], 'sandboxFiles[0].path'),
  ...each(
    'sandboxFiles',
    ['/app/mnt/../a.txt', '/app/mnt//a.txt', '/app/mnt/a.txt/', '/etc/a.txt'].map((path) => [{ ...sandboxFile, path }]),
    'sandboxFiles[0].path',
  ),
  ...each('sandboxFiles', [[{ ...sandboxFile, name: 'b.txt' }]], 'sandboxFiles[0].name'),
  ...each('attachmentUrlRefreshes', [null, 5, 'a', []]),
  ...each(
    'attachmentUrlRefreshes',
    [{ 'https://example.com/a': 5 }, { 'https://example.com/a': 'no uri' }],
    'attachmentUrlRefreshes.https://example.com/a',
  ),
];

export interface Trap {
  readonly name: string;
  readonly body: string | Buffer;
  readonly contentType?: string;
  /** What the sentence must say. */
  readonly says: RegExp;
}

const whole = (member: string) => `{"apiIntegrationId":"demo","message":"Hi",${member}}`;
const nested = (depth: number) => whole(`"user_context":{"a":${'['.repeat(depth - 2)}${']'.repeat(depth - 2)}}`);
const bytes = (hex: string) =>
  Buffer.concat([Buffer.from('{"apiIntegrationId":"demo","message":"'), Buffer.from(hex, 'hex'), Buffer.from('"}')]);

/** Nesting of exactly the allowed depth is no trap: it is taken. */
export const DEEPEST_ACCEPTED = nested(64);

export const TRAPS: readonly Trap[] = [
  { name: 'nothing', body: '', says: /The body/ },
  ...['[]', '"text"', '5', 'null', 'true'].map((body) => ({ name: body, body, says: /The body/ })),
  ...[
    '{',
    '{"apiIntegrationId":',
    whole('"a":01'),
    whole('"a":NaN'),
    whole("'a':1"),
    `${whole('"a":1')} x`,
    whole('"a":1,'),
  ].map((body) => ({ name: body.slice(-20), body, says: /not valid JSON/ })),
  { name: 'a comment', body: `${whole('"a":1')}// a`, says: /not valid JSON/ },
  { name: 'a byte order mark', body: `\ufeff${whole('"a":1')}`, says: /byte order mark/ },
  { name: 'two members of one name', body: whole('"message":"Ho"'), says: /"message" twice/ },
  { name: 'two, one of them escaped', body: whole('"mess\\u0061ge":"Ho"'), says: /"message" twice/ },
  { name: 'two, deep inside', body: whole('"user_context":{"a":[{"b":1,"b":1}]}'), says: /"b" twice/ },
  { name: 'two called __proto__', body: whole('"__proto__":1,"__proto__":2'), says: /"__proto__" twice/ },
  { name: 'invalid UTF-8', body: bytes('ff'), says: /UTF-8/ },
  { name: 'an overlong slash', body: bytes('c0af'), says: /UTF-8/ },
  { name: 'a surrogate in UTF-8', body: bytes('eda080'), says: /UTF-8/ },
  { name: 'UTF-16', body: Buffer.from(whole('"a":1'), 'utf16le'), says: /./ },
  { name: 'a lone surrogate', body: whole('"user_context":"\\ud800"'), says: /surrogate/ },
  { name: 'a lone surrogate as a name', body: whole('"user_context":{"\\udc00":1}'), says: /surrogate/ },
  { name: 'nesting beyond 64', body: nested(65), says: /64/ },
  { name: 'a million open brackets', body: whole(`"user_context":{"a":${'['.repeat(1_000_000)}`), says: /./ },
  { name: 'too many values', body: whole(`"user_context":{"a":[${'1,'.repeat(10_000)}1]}`), says: /10.?000|10000/ },
  { name: 'text', body: whole('"a":1'), contentType: 'text/plain', says: /application\/json/ },
  { name: 'a form', body: 'message=Hi', contentType: 'application/x-www-form-urlencoded', says: /application\/json/ },
];
