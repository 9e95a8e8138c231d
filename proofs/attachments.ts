import type { Protocol } from '@runwire/test-kit';
import { pdfOfPages, slowPdf } from '../packages/test-kit/src/large-documents.ts';
import { type AttachedKind, KINDS } from './support/attachment-kinds.ts';
import { NOT_TO_BE_HAD, NOT_TO_BE_READ, type RefusedFile } from './support/attachment-refusals.ts';
import { ANSWER, AttachmentStage, shownTo, type Turn, WAIT_MS } from './support/attachment-stage.ts';
import { lockStep } from './support/lock-step.ts';
import { expectAtLeast, expectEqual, expectNumber, type Proof, Shortfall, within } from './support/proof.ts';

const PROTOCOLS: readonly Protocol[] = ['chat', 'responses'];
/** On the main thread no token passes; beside it hundreds do. */
const LEAST_TOKENS = 20;
/** What is made of it is a little larger, and no file may be larger than 20 MiB. */
const LARGE_BYTES = 20_400_000;
const SHORT_BYTES = 2_000_000;
const PAGES = { short: 1000, full: 10_000 };

function expectText(what: string, text: string, part: string): void {
  if (!text.includes(part))
    throw new Shortfall(`${what}: expected ${JSON.stringify(part)}, found ${text.slice(0, 300)}.`);
}

/** A file of another program: what it says on its second page is what the provider is asked about. */
async function arrives(stage: AttachmentStage, kind: AttachedKind): Promise<void> {
  const what = `${stage.protocol}, ${kind.name}`;
  const path = `/kinds/${kind.name}`;
  const bytes = kind.bytes();
  stage.files.serve(path, bytes, kind.contentType);
  const url = stage.secretUrl(path);
  const attachment =
    kind.type === 'input_image' ? { type: kind.type, image_url: url } : { type: kind.type, file_url: url };
  const { asked, reader } = await stage.completes(what, { message: 'What does it say?', attachments: [attachment] });
  expectEqual(`${what}: answer`, reader.answer, ANSWER);
  const { text, files } = shownTo(asked);
  if (kind.sentAs === 'image' || (kind.sentAs === 'pdf' && stage.protocol === 'responses')) {
    expectNumber(`${what}: files sent as they are`, files.length, 1);
    expectEqual(`${what}: media type`, files[0]?.mediaType, kind.mediaType);
    if (files[0]?.bytes.equals(bytes) !== true) throw new Shortfall(`${what}: expected its very bytes, found others.`);
  } else {
    expectNumber(`${what}: files sent as they are`, files.length, 0);
    for (const part of kind.says) expectText(what, text, part);
  }
  if (JSON.stringify(asked).includes(stage.secret))
    throw new Shortfall(`${what}: expected no query in the prompt, found it.`);
}

/** "fails the run with `attachment_unavailable`, naming the URL without its query"; not charged; the chat goes on. */
async function isRefused(stage: AttachmentStage, file: RefusedFile): Promise<Turn> {
  const what = `${stage.protocol}, ${file.name}`;
  file.serve(stage.files, file.path);
  const url = file.url?.(stage.files).replace('SECRET', stage.secret) ?? stage.secretUrl(file.path);
  const { type = 'input_file' } = { type: file.kind };
  const attachment = type === 'input_image' ? { type, image_url: url } : { type, file_url: url };
  const failed = await stage.turn(what, { message: 'What does it say?', attachments: [attachment] });
  expectEqual(`${what}: what the provider was asked`, failed.asked, null);
  const { status, error } = failed.ending;
  expectEqual(`${what}: end`, [status, error?.code], ['failed', 'attachment_unavailable']);
  const named = `\`attachments[0]\` of this message, ${url.replace(/\?.*/, '')}, `;
  expectEqual(`${what}: how its sentence begins`, error.message.slice(0, named.length), named);
  const rest = error.message.slice(named.length);
  if (!file.says.test(rest)) throw new Shortfall(`${what}: expected ${file.says}, found ${rest}`);
  expectEqual(`${what}: charge`, await stage.charged(failed), { unit: 'runs', amount: 0 });
  const query = new URL(url).search.slice(1);
  const listed = await stage.messages(failed.chatId);
  for (const [place, text] of Object.entries({ stream: failed.reader.text, 'message list': listed })) {
    if (text.includes(query) || text.includes(stage.secret)) {
      throw new Shortfall(`${what}: expected no query in the ${place}, found it.`);
    }
  }
  const next = await stage.completes(`${what}, the next turn`, { chatId: failed.chatId, message: 'And now?' });
  expectNumber(`${what}: files in the next turn`, shownTo(next.asked).files.length, 0);
  return failed;
}

/** Redirects to where files may be fetched from are followed, up to three of them. */
async function followsRedirects(stage: AttachmentStage): Promise<void> {
  stage.files.serve('/hops/3', 'Found behind three hops.', 'text/plain');
  for (const hop of [2, 1, 0]) stage.files.redirect(`/hops/${hop}`, `/hops/${hop + 1}`, [301, 302, 303][hop]);
  const attachments = [{ type: 'input_file', file_url: stage.secretUrl('/hops/0'), filename: 'found.txt' }];
  const { asked } = await stage.completes('three redirects', { attachments });
  expectText('three redirects', shownTo(asked).text, 'Found behind three hops.');
}

/** Of ten thousand pages the first are sent, and the model is told that there are more. */
async function isCut(stage: AttachmentStage, pages: number): Promise<void> {
  stage.files.serve('/long.pdf', pdfOfPages(pages), 'application/pdf');
  const attachments = [{ type: 'input_file', file_url: stage.secretUrl('/long.pdf') }];
  const { asked } = await stage.completes(`${pages} pages`, { attachments });
  expectText(`${pages} pages`, shownTo(asked).text, `[Cut here: pages 1 to 500 of ${pages} are shown.]`);
}

/** A file whose head comes, and whose bytes trickle without an end. */
async function isTooSlow(fault: string | null): Promise<number> {
  await using stage = await AttachmentStage.start(fault, 'chat', { env: { RUNWIRE_MAX_ATTACHMENT_SECONDS: '1' } });
  const late = { says: /^could not be fetched: it took longer than 1 seconds?;/ };
  const silent = { ...late, name: 'a server that is silent', path: '/silent.txt' };
  await isRefused(stage, { ...silent, serve: (files, path) => void files.hold(path) });
  const trickling = { ...late, name: 'a server that trickles', path: '/trickle.txt' };
  await isRefused(stage, {
    ...trickling,
    serve: (files, path) =>
      files.route(path, async (call) => {
        while (!call.isClosed) {
          await call.bytes('a');
          await new Promise((resolve) => setTimeout(resolve, 20));
        }
      }),
  });
  keepsSecrets(stage);
  return 2;
}

function keepsSecrets(stage: AttachmentStage): void {
  if (!stage.server.said.includes('"level"')) throw new Shortfall('log: expected lines, found none.');
  if (stage.server.said.includes(stage.secret)) throw new Shortfall('log: expected no query, found one.');
}

/** A stream of another chat, token by token, while a file of 20 MiB is converted. */
async function staysInStep(stage: AttachmentStage, sizeBytes: number): Promise<number> {
  const calls = stage.provider;
  calls.onCall = null;
  const other = await stage.post({ message: 'Count.' });
  const counting = await within('call of the other chat', WAIT_MS, calls.nextCall());
  const held = stage.files.hold('/large.pdf');
  const attachments = [{ type: 'input_file', file_url: stage.secretUrl('/large.pdf') }];
  const large = await stage.post({ message: 'What does it say?', attachments });
  const fetching = await within('fetch of the large file', WAIT_MS, held.nextCall());
  const ends = calls.nextCall();
  fetching.answer(200, slowPdf(sizeBytes), { 'content-type': 'application/pdf' });
  const beside = { call: counting, reader: other };
  // A run that ends without asking must not be waited for.
  const over = Promise.race([ends, large.over]);
  const tokens = await lockStep(stage, { begins: fetching.closed, ends: over }, beside);
  counting.cut();
  const asked = await within('call with the large file', WAIT_MS, ends);
  stage.answer(asked);
  stage.answerAll();
  await within('end of the large file', WAIT_MS, large.over);
  expectText('the large file', shownTo(asked.body).text, '[Page 2]');
  return expectAtLeast('tokens beside the conversion', tokens, LEAST_TOKENS);
}

/** In short what both protocols have alike is shown with one of them. */
const isShown = (kind: AttachedKind, protocol: Protocol, short: boolean): boolean =>
  protocol === 'chat' ? kind.hasNoText !== true : !short || kind.sentAs !== 'text';

/** The same of what cannot be read: only PDFs take another road where the model takes them as they are. */
const isTried = (file: RefusedFile, protocol: Protocol, short: boolean): boolean =>
  protocol === 'chat' || (file.onlyAsText !== true && (!short || file.path.endsWith('.pdf')));

async function play(fault: string | null, protocol: Protocol, short: boolean) {
  await using stage = await AttachmentStage.start(fault, protocol);
  const notHad = short && protocol === 'responses' ? [] : NOT_TO_BE_HAD;
  const notRead = NOT_TO_BE_READ.filter((file) => isTried(file, protocol, short));
  const [first, ...others] = [...notHad, ...notRead];
  // Whatever leaks or is left out shows at the first of them.
  if (first !== undefined) await isRefused(stage, first);
  const tokens = protocol === 'chat' ? await staysInStep(stage, short ? SHORT_BYTES : LARGE_BYTES) : 0;
  for (const file of others) await isRefused(stage, file);
  const kinds = KINDS.filter((kind) => isShown(kind, protocol, short));
  for (const kind of kinds) await arrives(stage, kind);
  await followsRedirects(stage);
  if (!short || protocol === 'chat') await isCut(stage, short ? PAGES.short : PAGES.full);
  keepsSecrets(stage);
  return { sent: kinds.length, refused: notHad.length + notRead.length, tokens };
}

export const proof: Proof = {
  name: 'attachments',
  minutes: 0.5,
  faults: {
    'skip-unreadable': /^chat, 404: what the provider was asked: expected null, found /m,
    'leak-query': /^chat, 404: expected no query in the stream, found it\.$/m,
    'convert-here': /^tokens beside the conversion: expected at least 20, found \d+\.$/m,
  },
  // Two protocols show more at full scale.
  figures: (scale) => scale<Record<string, number>>({ kinds: 19, sent: 27, refused: 29 }, { kinds: 19 }),
  async run({ fault, scale }) {
    const short = scale(true, false);
    const figures = { kinds: KINDS.length, sent: 0, refused: 0, lock_step_tokens: 0 };
    for (const protocol of PROTOCOLS) {
      const { sent, refused, tokens } = await play(fault, protocol, short);
      figures.sent += sent;
      figures.refused += refused;
      figures.lock_step_tokens += tokens;
    }
    figures.refused += await isTooSlow(fault);
    return figures;
  },
};
