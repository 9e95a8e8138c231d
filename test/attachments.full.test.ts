import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Protocol, pdfOfPages, providerEvents, slowPdf, sseText } from '@runwire/test-kit';
import {
  ATTACHED_KINDS,
  type AttachedKind,
  NOT_FETCHED,
  NOT_READ,
  type RefusedFile,
  SECRET,
} from '@runwire/test-kit/attachment-samples.ts';
import { OPENAI_PROTOCOLS } from '@runwire/test-kit/provider-rig.ts';
import { count, plantedFault, scale } from '@runwire/test-kit/scale.ts';
import { addTo, expectAtLeast, expectEqual, Shortfall, WAIT_MS, within } from '@runwire/test-kit/shortfall.ts';
import { fileAt, imageAt } from './support/attachment-rig.ts';
import { ANSWER, AttachmentStage, shownTo } from './support/attachment-stage.ts';

/** On the main thread no token passes; beside it hundreds do. */
const LEAST_TOKENS = 20;
const MOST_TOKENS = 20_000;
const PDF = 'application/pdf';
const attach = (type: AttachedKind['type'], url: string) => ({
  message: 'What does it say?',
  attachments: [type === 'input_image' ? imageAt(url) : fileAt(url)],
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
async function arrives(stage: AttachmentStage, kind: AttachedKind): Promise<void> {
  const what = `${stage.protocol}, ${kind.name}`;
  stage.files.serve(`/kinds/${kind.name}`, kind.bytes, kind.contentType);
  const { asked, reader } = await stage.completes(what, attach(kind.type, stage.secretUrl(`/kinds/${kind.name}`)));
  expectEqual(`${what}: answer`, reader.answer, ANSWER);
  const { text, files } = shownTo(asked);
  const isSentAsIs = kind.sentAs === 'image' || (kind.sentAs === 'pdf' && stage.protocol === 'responses');
  const types = files.map(([type]) => type);
  expectEqual(`${what}: files sent as they are`, types, isSentAsIs ? [kind.mediaType] : []);
  if (isSentAsIs) expectEqual(`${what}: bytes are its own`, files[0]?.[1].equals(kind.bytes), true);
  else expectText(what, text, ...kind.says);
  expectNoSecret(`${what}: prompt`, JSON.stringify(asked));
}

/** The run fails, names the URL without its query and charges nothing; the chat continues. */
async function isRefused(stage: AttachmentStage, [path, says, serve, urlOf]: RefusedFile): Promise<void> {
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
  expectEqual(`${what}: files in the next turn`, shownTo(next.asked).files.length, 0);
}

function checkLog({ server }: AttachmentStage): void {
  expectText('log', server.output, '"level"');
  expectNoSecret('log', server.output);
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
  void fetching.closed.then(() => (hasBegun = true));
  // A run that fails asks nothing.
  void Promise.race([asking, large.over]).then(() => (hasEnded = true));
  fetching.answer(200, slowPdf(sizeBytes), { 'content-type': PDF });
  const deltas = Array.from({ length: MOST_TOKENS }, (_, number) => `<${number}>`);
  const events = providerEvents(stage.protocol, { parts: [{ kind: 'text', deltas }], usage: null });
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

async function play(fault: string | null, protocol: Protocol) {
  await using stage = await AttachmentStage.start(fault, protocol);
  const isChat = protocol === 'chat';
  // A model that takes PDFs is sent a scan. The short form shows with one protocol what both have in common.
  const isFor = (path: string) => isChat || (path !== '/scanned.pdf' && scale(path.endsWith('.pdf'), true));
  const notRead = NOT_READ.filter(([path]) => isFor(path));
  const [first, ...others] = [...(isChat ? NOT_FETCHED : scale([], NOT_FETCHED)), ...notRead];
  if (first !== undefined) await isRefused(stage, first);
  // The bytes that are made of it are a little more, and a file has at most 20 MiB.
  const tokens = isChat ? await staysInStep(stage, scale(2_000_000, 20_400_000)) : 0;
  for (const file of others) await isRefused(stage, file);
  const kinds = ATTACHED_KINDS.filter(({ name, sentAs }) =>
    isChat ? name !== 'scanned.pdf' : scale(sentAs !== 'text', true),
  );
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
  const trickle: RefusedFile[2] = (files, path) =>
    files.route(path, async (call) => {
      for (; !call.isClosed; await sleep(20)) await call.bytes('a');
    });
  await isRefused(stage, ['/silent.txt', 'it took longer than 1 second', (files, path) => files.hold(path)]);
  await isRefused(stage, ['/trickle.txt', 'it took longer than 1 second', trickle]);
  checkLog(stage);
  return 2;
}

test('attachments reach the model, or the run fails free of charge', async () => {
  const fault = plantedFault();
  const figures = { kinds: ATTACHED_KINDS.length, sent: 0, refused: 0, lock_step_tokens: 0 };
  for (const protocol of OPENAI_PROTOCOLS.toReversed()) {
    addTo(figures, await play(fault, protocol));
  }
  figures.refused += await isTooSlow(fault);
  count(figures);
});
