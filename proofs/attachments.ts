import { setTimeout as sleep } from 'node:timers/promises';
import {
  type FileServer,
  type Protocol,
  pdfOfPages,
  providerEvents,
  REFUSED_SAMPLES,
  SAMPLE_IMAGES,
  SAMPLE_SENTENCES,
  sampleDocument,
  slowPdf,
  sseText,
} from '@runwire/test-kit';
import { repeated, zipOf, zipPart } from '../packages/test-kit/src/large-documents.ts';
import { ANSWER, AttachmentStage, SECRET, shownTo, WAIT_MS } from './support/attachment-stage.ts';
import {
  expectAtLeast,
  expectEqual,
  expectNumber,
  type Proof,
  type Scale,
  Shortfall,
  within,
} from './support/proof.ts';

const PROTOCOLS: readonly Protocol[] = ['chat', 'responses'];
/** On the main thread no token passes; beside it hundreds do. */
const LEAST_TOKENS = 20;
const MOST_TOKENS = 20_000;
const LARGEST = 20_971_520;
const HOUR_MS = 3_600_000;
const PDF = 'application/pdf';
const OFFICE = 'application/vnd.openxmlformats-officedocument';
const DOCX = `${OFFICE}.wordprocessingml.document`;
const XLSX = `${OFFICE}.spreadsheetml.sheet`;

/** A file, and what arrives of it. */
interface Kind {
  readonly name: string;
  readonly type: 'input_file' | 'input_image';
  readonly contentType: string | null;
  readonly bytes: Uint8Array;
  /** It is sent as it is: always, or only to a model that takes PDFs. */
  readonly sentAs: 'image' | 'pdf' | 'text';
  readonly mediaType: string;
  /** The parts of its text. */
  readonly says: readonly string[];
}

/** Files of other programs: name, content type, media type, and text beside the sentence of its second page or sheet. */
const DOCUMENTS: readonly (readonly [string, string | null, string, ...string[]])[] = [
  ['chromium.pdf', PDF, PDF, '[Page 2]', '日本語の文章です。港は静かだ。'],
  ['ghostscript.pdf', PDF, PDF, '[Page 2]'],
  ['libreoffice.pdf', PDF, PDF, '[Page 2]'],
  ['scanned.pdf', PDF, PDF],
  ['pandoc.docx', DOCX, DOCX, 'North | 12'],
  ['libreoffice.docx', DOCX, DOCX, 'North | 12'],
  // Many servers send what they do not know so.
  ['openpyxl.xlsx', 'application/octet-stream', XLSX, '[Sheet: Second sheet]'],
  ['libreoffice.xlsx', 'application/octet-stream', XLSX, '[Sheet: Second sheet]'],
  ['gnumeric.xlsx', 'application/octet-stream', XLSX, '[Sheet: Second sheet]'],
  ['utf8.csv', 'text/csv', 'text/csv'],
  ['utf16.csv', null, 'text/csv'],
  ['windows-1252.csv', 'text/csv; charset=windows-1252', 'text/csv'],
  ['report.html', 'text/html', 'text/html'],
  ['README.md', 'text/plain; charset=utf-8', 'text/markdown', '# Files made by other programs'],
];
const image = (name: string, mediaType: string, base64: string, contentType: string | null = mediaType): Kind => ({
  name,
  type: contentType === null ? 'input_file' : 'input_image',
  contentType,
  bytes: Buffer.from(base64, 'base64'),
  sentAs: 'image',
  mediaType,
  says: [],
});
const KINDS: readonly Kind[] = [
  ...DOCUMENTS.map(([name, contentType, mediaType, ...more]): Kind => {
    const says = [...more, ...(SAMPLE_SENTENCES[name] === undefined ? [] : [SAMPLE_SENTENCES[name]])];
    const sentAs = mediaType === PDF ? 'pdf' : 'text';
    return { name, type: 'input_file', contentType, bytes: sampleDocument(name), sentAs, mediaType, says };
  }),
  ...Object.entries(SAMPLE_IMAGES).map(([type, base64]) => image(`photo.${type.slice('image/'.length)}`, type, base64)),
  // The bytes decide that a file is an image, not its name.
  image('scan', 'image/png', SAMPLE_IMAGES['image/png'], null),
];

type Serve = (files: FileServer, path: string) => unknown;
/** Path, the reason in the sentence, and what its server does. */
type Refused = readonly [path: string, says: string, serve: Serve, url?: (files: FileServer) => string];

const bytes =
  (content: Uint8Array | string, contentType: string | null = null): Serve =>
  (files, path) =>
    files.serve(path, content, contentType);
const sample = (name: string): Refused => [`/${name}`, REFUSED_SAMPLES[name] ?? '?', bytes(sampleDocument(name))];
const half = (name: string): Serve => {
  const whole = sampleDocument(name);
  return bytes(whole.subarray(0, whole.length >> 1));
};
const elsewhere = (to: string, index: number): Refused => [
  `/away-${index}.pdf`,
  'its server redirects to an address that is not allowed',
  (files, path) => files.redirect(path, to),
];

/** A document of 200 KB whose one part unpacks to 200 MB. */
function zipBomb(): Uint8Array {
  const types = `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Override PartName="/word/document.xml" ContentType="${DOCX}.main+xml"/></Types>`;
  const size = 200_000_000;
  const part = { name: 'word/document.xml', deflated: repeated(' ', size), bytes: size, crc: 0 };
  return zipOf([zipPart('[Content_Types].xml', types), part]);
}

const signedAt = (path: string) => (files: FileServer) =>
  files.sign(path, { at: new Date(Date.now() - HOUR_MS), expiresSeconds: 60 });

const NOT_FETCHED: readonly Refused[] = [
  ['/gone.pdf', 'its server answered 404', () => {}],
  ['/broken.pdf', 'its server answered 500', (files, path) => files.serve(path, 'no', 'text/plain', 500)],
  [
    '/expired.pdf',
    'its server answered 403',
    (files, path) => files.serveSigned(path, '%PDF-', PDF),
    signedAt('/expired.pdf'),
  ],
  ['/round.pdf', 'its server redirects more than 3 times', (files, path) => files.redirect(path, path)],
  ...['https://10.0.0.1/a.pdf', 'https://169.254.169.254/latest', 'https://[::1]/', 'http://example.com/'].map(
    elsewhere,
  ),
  [
    '/a.pdf',
    'its host has an address that is not on the public internet',
    () => {},
    () => `https://localhost/a.pdf?token=${SECRET}`,
  ],
  [
    '/announced.pdf',
    `it is larger than ${LARGEST} bytes`,
    (files, path) => files.lie(path, Buffer.alloc(10), LARGEST + 1),
  ],
  ['/endless.txt', `it is larger than ${LARGEST} bytes`, (files, path) => files.endless(path)],
  ['/cut.txt', 'its server closed the connection', (files, path) => files.lie(path, Buffer.alloc(10, 'a'), 20)],
  ['/gzip.txt', 'its server sent it compressed', (files, path) => files.gzipped(path, Buffer.from('Hello'))],
];
const NOT_READ: readonly Refused[] = [
  sample('scanned.pdf'),
  sample('encrypted.pdf'),
  ['/half.pdf', 'is damaged', half('libreoffice.pdf')],
  ['/half.docx', 'is damaged', half('libreoffice.docx')],
  sample('encrypted.docx'),
  ['/bomb.docx', 'is too large', (files, path) => files.serve(path, zipBomb(), DOCX)],
  sample('old-word.doc'),
  [
    '/login.pdf',
    'should be a PDF, but the server sent a web page',
    bytes('<!doctype html><title>Sign in</title>', 'text/html'),
  ],
  ['/photo.png', 'is not a PNG, JPEG, GIF or WebP image, judged by its content', bytes('No image.', 'image/png')],
  ['/dump.bin', 'has a type that is not supported', bytes(Buffer.from([0, 1, 2, 3, 0xff, 0xfe, 0, 0]))],
  ['/empty.txt', 'is empty', bytes('', 'text/plain')],
];

const attach = (type: Kind['type'], url: string) => ({
  message: 'What does it say?',
  attachments: [type === 'input_image' ? { type, image_url: url } : { type, file_url: url }],
});

function expectText(what: string, text: string, ...parts: readonly string[]): void {
  for (const part of parts) {
    if (!text.includes(part))
      throw new Shortfall(`${what}: expected ${JSON.stringify(part)}, found ${text.slice(0, 300)}.`);
  }
}

function expectNoSecret(what: string, text: string, ...others: readonly string[]): void {
  for (const secret of [SECRET, ...others]) {
    if (secret !== '' && text.includes(secret)) throw new Shortfall(`${what}: expected no query, found one.`);
  }
}

/** The provider gets the file itself, or its text. */
async function arrives(stage: AttachmentStage, kind: Kind): Promise<void> {
  const what = `${stage.protocol}, ${kind.name}`;
  stage.files.serve(`/kinds/${kind.name}`, kind.bytes, kind.contentType);
  const { asked, reader } = await stage.completes(what, attach(kind.type, stage.secretUrl(`/kinds/${kind.name}`)));
  expectEqual(`${what}: answer`, reader.answer, ANSWER);
  const { text, files } = shownTo(asked);
  const isSentAsIs = kind.sentAs === 'image' || (kind.sentAs === 'pdf' && stage.protocol === 'responses');
  expectEqual(
    `${what}: files sent as they are`,
    files.map(([type]) => type),
    isSentAsIs ? [kind.mediaType] : [],
  );
  if (isSentAsIs) expectEqual(`${what}: bytes are its own`, files[0]?.[1].equals(kind.bytes), true);
  else expectText(what, text, ...kind.says);
  expectNoSecret(`${what}: prompt`, JSON.stringify(asked));
}

/** The run fails, names the URL without its query and charges nothing; the chat continues. */
async function isRefused(stage: AttachmentStage, [path, says, serve, urlOf]: Refused): Promise<void> {
  const what = `${stage.protocol}, ${path}`;
  serve(stage.files, path);
  const url = urlOf?.(stage.files) ?? stage.secretUrl(path);
  const failed = await stage.turn(what, attach(path.endsWith('.png') ? 'input_image' : 'input_file', url));
  expectEqual(`${what}: what the provider was asked`, failed.asked, null);
  const { status, error } = failed.ending;
  expectEqual(`${what}: end`, [status, error?.code], ['failed', 'attachment_unavailable']);
  expectText(what, error.message, `\`attachments[0]\` of this message, ${url.replace(/\?.*/, '')}, `, says);
  const usage = (await stage.api.get('/v2/integrations/metered/usage?limit=1')).body.items[0];
  expectEqual(`${what}: charge`, [usage.runId, usage.charged], [failed.runId, { unit: 'runs', amount: 0 }]);
  const listed = await stage.api.get(`/v2/integrations/metered/chats/${failed.chatId}/messages`);
  expectNoSecret(`${what}: stream`, failed.reader.text, new URL(url).search.slice(1));
  expectNoSecret(`${what}: messages`, JSON.stringify(listed.body), new URL(url).search.slice(1));
  const next = await stage.completes(`${what}, the next turn`, { chatId: failed.chatId, message: 'And now?' });
  expectNumber(`${what}: files in the next turn`, shownTo(next.asked).files.length, 0);
}

function checkLog({ server }: AttachmentStage): void {
  expectText('log', server.said, '"level"');
  expectNoSecret('log', server.said);
}

/** The text of a file reaches the provider. */
async function isShown(stage: AttachmentStage, path: string, text: string): Promise<void> {
  const { asked } = await stage.completes(path, attach('input_file', stage.secretUrl(path)));
  expectText(path, shownTo(asked).text, text);
}

/** The stream of another chat gets token after token while a large PDF is converted; returns how many. */
async function staysInStep(stage: AttachmentStage, sizeBytes: number): Promise<number> {
  const { provider } = stage;
  provider.onCall = null;
  const other = await stage.post({ message: 'Count.' });
  const counting = await within('call of the other chat', WAIT_MS, provider.nextCall());
  const held = stage.files.hold('/large.pdf');
  const large = await stage.post(attach('input_file', stage.secretUrl('/large.pdf')));
  const fetching = await within('fetch of the large file', WAIT_MS, held.nextCall());
  const asking = provider.nextCall();
  let [hasBegun, hasEnded, tokens, from] = [false, false, 0, 0];
  void fetching.closed.then(() => {
    hasBegun = true;
  });
  // A run that fails asks nothing.
  void Promise.race([asking, large.over]).then(() => {
    hasEnded = true;
  });
  fetching.answer(200, slowPdf(sizeBytes), { 'content-type': PDF });
  const deltas = Array.from({ length: MOST_TOKENS }, (_, number) => `<${number}>`);
  const events = providerEvents(stage.protocol, { said: [{ kind: 'text', deltas }], usage: null });
  const first = events.findIndex((event) => JSON.stringify(event).includes('<0>'));
  await counting.bytes(sseText(events.slice(0, first)));
  for (let number = 0; !hasEnded && number < MOST_TOKENS; number += 1) {
    const isCounted = hasBegun;
    await counting.bytes(sseText(events.slice(first + number, first + number + 1)));
    const arrival = other.until(({ text }) => text.includes(`"<${number}>"`, from));
    await within(`token ${number} beside the conversion`, WAIT_MS, arrival);
    from = other.text.indexOf(`"<${number}>"`, from);
    if (isCounted && !hasEnded) tokens += 1;
    await sleep(5);
  }
  counting.cut();
  const asked = await within('call with the large file', WAIT_MS, asking);
  stage.answer(asked);
  stage.answerAll();
  await within('end of the large file', WAIT_MS, large.over);
  expectText('the large file', shownTo(asked.body).text, '[Page 2]');
  return expectAtLeast('tokens beside the conversion', tokens, LEAST_TOKENS);
}

async function play(fault: string | null, protocol: Protocol, scale: Scale) {
  await using stage = await AttachmentStage.start(fault, protocol);
  const isChat = protocol === 'chat';
  // A model that takes PDFs is sent a scan. The short form shows with one protocol what both have in common.
  const notRead = NOT_READ.filter(
    ([path]) => isChat || (path !== '/scanned.pdf' && scale(path.endsWith('.pdf'), true)),
  );
  const [first, ...others] = [...(isChat ? NOT_FETCHED : scale([], NOT_FETCHED)), ...notRead];
  if (first !== undefined) await isRefused(stage, first);
  // The bytes that are made of it are a little more, and a file has at most 20 MiB.
  const tokens = isChat ? await staysInStep(stage, scale(2_000_000, 20_400_000)) : 0;
  for (const file of others) await isRefused(stage, file);
  const kinds = KINDS.filter(({ name, sentAs }) => (isChat ? name !== 'scanned.pdf' : scale(sentAs !== 'text', true)));
  for (const kind of kinds) await arrives(stage, kind);
  stage.files.serve('/hops/3', 'Found after three hops.', 'text/plain');
  for (const hop of [2, 1, 0]) stage.files.redirect(`/hops/${hop}`, `/hops/${hop + 1}`, [301, 302, 303][hop]);
  await isShown(stage, '/hops/0', 'Found after three hops.');
  if (scale(isChat, true)) {
    const pages = scale(1000, 10_000);
    stage.files.serve('/long.pdf', pdfOfPages(pages), PDF);
    await isShown(stage, '/long.pdf', `[Cut here: pages 1 to 500 of ${pages} are shown.]`);
  }
  checkLog(stage);
  return { sent: kinds.length, refused: others.length + 1, lock_step_tokens: tokens };
}

/** Servers that are silent, and that send byte after byte without an end. */
async function isTooSlow(fault: string | null): Promise<number> {
  await using stage = await AttachmentStage.start(fault, 'chat', { env: { RUNWIRE_MAX_ATTACHMENT_SECONDS: '1' } });
  const trickle: Serve = (files, path) =>
    files.route(path, async (call) => {
      for (; !call.isClosed; await sleep(20)) await call.bytes('a');
    });
  await isRefused(stage, ['/silent.txt', 'it took longer than 1 second', (files, path) => files.hold(path)]);
  await isRefused(stage, ['/trickle.txt', 'it took longer than 1 second', trickle]);
  checkLog(stage);
  return 2;
}

export const proof: Proof = {
  name: 'attachments',
  minutes: 0.5,
  faults: {
    'skip-unreadable': /^chat, \/gone\.pdf: what the provider was asked: expected null, found /m,
    'leak-query': /^chat, \/gone\.pdf: stream: expected no query, found one\.$/m,
    'convert-here': /^tokens beside the conversion: expected at least 20, found \d+\.$/m,
  },
  figures: (scale) => ({ kinds: 19, sent: scale(27, 37), refused: scale(29, 49) }),
  async run({ fault, scale }) {
    const figures = { kinds: KINDS.length, sent: 0, refused: 0, lock_step_tokens: 0 };
    for (const protocol of PROTOCOLS) {
      const counts = await play(fault, protocol, scale);
      for (const key of ['sent', 'refused', 'lock_step_tokens'] as const) figures[key] += counts[key];
    }
    figures.refused += await isTooSlow(fault);
    return figures;
  },
};
