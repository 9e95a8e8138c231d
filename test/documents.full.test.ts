import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { endlessPdf, type ProviderCall, providerEvents, slowPdf, sseText } from '@runwire/test-kit';
import { makeZip, pdfBomb, repeated, zipPart } from '@runwire/test-kit/large-documents.ts';
import { docxBomb, makeDocx, makeXlsx, xlsxBomb } from '@runwire/test-kit/office-packages.ts';
import { REFUSED_SAMPLES, SAMPLE_SENTENCES, sampleDocument } from '@runwire/test-kit/sample-documents.ts';
import { count, plantedFault, scale } from '@runwire/test-kit/scale.ts';
import { expectAtLeast, expectAtMost, expectEqual, Shortfall, WAIT_MS, within } from '@runwire/test-kit/shortfall.ts';
import { fileAt } from './support/attachment-rig.ts';
import { AttachmentStage, shownTo } from './support/attachment-stage.ts';
import { upload } from './support/uploads.ts';

const FOLDER = '/app/mnt/documents';
const MIB = 1024 * 1024;
/** A conversion's limit, and the time to start its process, to send the file and to call the model twice. */
const MOST_SECONDS = 30 + 5;
const MOST_MIB = 512;
/** On the main thread a token waits for the whole conversion. */
const LEAST_TOKENS = 60;
const MOST_TOKENS = 100_000;

const send = (
  stage: AttachmentStage,
  call: ProviderCall,
  part: Parameters<typeof providerEvents>[1]['parts'][number],
) => void call.stream(sseText(providerEvents(stage.protocol, { parts: [part], usage: null })));

/** Uploads a file; resolves to its path. */
const put = (stage: AttachmentStage, filename: string, bytes: Uint8Array) =>
  upload(stage.api, bytes, {
    apiIntegrationId: 'metered',
    folder: FOLDER,
    filename,
    contentType: 'application/octet-stream',
  });

/** The model calls the tool once; resolves to what it is shown. Other calls of the provider are left to `others`. */
async function readByTool(
  stage: AttachmentStage,
  input: object,
  others: (call: ProviderCall) => void = () => {},
): Promise<string> {
  const shown = Promise.withResolvers<string>();
  const message = `Read ${JSON.stringify(input)}`;
  stage.provider.onCall = (call) => {
    const turns = call.body.messages as { role: string; content: unknown }[];
    if (!turns.some(({ content }) => content === message)) return others(call);
    const last = turns.at(-1);
    if (last?.role !== 'tool') {
      return send(stage, call, { kind: 'calls', calls: [['call_1', 'read_file', JSON.stringify(input)]] });
    }
    shown.resolve(String(last.content));
    send(stage, call, { kind: 'text', deltas: ['Thanks.'] });
  };
  const reader = await stage.post({ message });
  await within(`end of the run that reads ${JSON.stringify(input)}`, 2 * WAIT_MS, reader.over);
  return await within(`output of read_file ${JSON.stringify(input)}`, WAIT_MS, shown.promise);
}

/** Calls the tool for one range after the other; resolves to the joined lines. */
async function readInRanges(stage: AttachmentStage, path: string, by: 'line' | 'page', count: number): Promise<string> {
  const lines: string[] = [];
  for (let next = 1; ; ) {
    const range = by === 'line' ? { first_line: next, lines: count } : { first_page: next, pages: count };
    const output: string = await readByTool(stage, { path, ...range });
    const [about = '', ...shown] = output.split('\n');
    if (!about.startsWith(`${path} (`) || !about.endsWith(':')) throw new Shortfall(`${path}: found ${about}.`);
    const more = /^\[There is more: call again with first_(?:line|page) (\d+)\.\]$/.exec(shown.at(-1) ?? '');
    if (more === null) return [...lines, ...shown, ''].join('\n');
    lines.push(...shown.slice(0, -1));
    next = Number(more[1]);
  }
}

/** The text of a file that was attached; null if the run failed. */
async function readAsAttachment(stage: AttachmentStage, name: string): Promise<{ text: string } | { reason: string }> {
  stage.files.serve(`/${name}`, sampleDocument(name), 'application/octet-stream');
  stage.answerAll();
  const url = stage.files.url(`/${name}`);
  const { asked, ending } = await stage.turn(name, { message: 'What does it say?', attachments: [fileAt(url)] });
  if (asked === null) return { reason: String(ending.error?.message).split(`${url}, `)[1] ?? '' };
  const { text } = shownTo(asked);
  const found = /\[File ([0-9a-f]{16}): [^\n]*\n([\s\S]*)\n\[End of file \1\]/.exec(text)?.[2];
  if (found === undefined) throw new Shortfall(`${name}: expected the text of the file, found ${text.slice(0, 300)}.`);
  return { text: found };
}

/** Every fixture has the same text by the tool and as an attachment, and every refused one the same reason. */
async function sameText(stage: AttachmentStage) {
  let [texts, ranges] = [0, 0];
  const all = Object.keys(SAMPLE_SENTENCES);
  for (const name of scale(
    all.filter((one) => /^(?:filled-form|openpyxl|report|utf16|utf8)/.test(one)),
    all,
  )) {
    const attached = await readAsAttachment(stage, name);
    if (!('text' in attached)) throw new Shortfall(`${name}: expected a text, found ${attached.reason}.`);
    const path = await put(stage, name, sampleDocument(name));
    const ways: ['line' | 'page', number][] = [
      ['line', scale(9, 5)],
      ['line', 2000],
    ];
    if (name.endsWith('.pdf')) ways.push(['page', 1]);
    for (const [by, count] of ways) {
      expectEqual(`${name} in ranges by ${by}`, await readInRanges(stage, path, by, count), attached.text);
      ranges += 1;
    }
    texts += 1;
  }
  let refused = 0;
  for (const name of Object.keys(REFUSED_SAMPLES)) {
    const attached = await readAsAttachment(stage, name);
    if (!('reason' in attached)) throw new Shortfall(`${name}: expected a refusal, found ${attached.text}.`);
    const path = await put(stage, name, sampleDocument(name));
    expectEqual(`${name} by the tool`, await readByTool(stage, { path }), `${path} ${attached.reason}`);
    refused += 1;
  }
  return { texts, ranges, refused };
}

/** A package with many parts that share the same bytes. */
function overlappingZip(): Uint8Array {
  const part = { name: 'word/document.xml', deflated: repeated(' ', 50_000_000), bytes: 50_000_000, crc: 0 };
  const more = Array.from({ length: 200 }, (_, index) => ({ ...part, name: `word/${index}.xml`, overlapping: true }));
  return makeZip([zipPart('[Content_Types].xml', '<Types/>'), part, ...more]);
}

/** Name → a document that is made to cost time or memory. */
const HOSTILE: Readonly<Record<string, () => Uint8Array>> = {
  'words.docx': () => makeDocx('<w:p><w:r><w:t>word</w:t></w:r></w:p>'.repeat(2_000_000)),
  'bomb.pdf': () => pdfBomb(10_000_000_000),
  'endless.pdf': endlessPdf,
  'slow.pdf': () => slowPdf(20_400_000),
  'bomb.docx': () => docxBomb(90_000_000),
  'claims.docx': () => docxBomb(4_000_000_000),
  'bomb.xlsx': () => xlsxBomb(90_000_000),
  'rows.xlsx': () => makeXlsx('<row><c t="inlineStr"><is><t>word</t></is></c></row>'.repeat(1_500_000)),
  'overlapping.docx': overlappingZip,
  'deep.html': () => Buffer.from(`<html>${'<div>'.repeat(3_000_000)}`),
  'table.html': () => Buffer.from(`<html><table>${'<tr><td>a'.repeat(2_000_000)}`),
  'nested.docx': () => makeDocx('<w:p>'.repeat(500_000)),
};

/** The memory of a server and of the processes that read its documents, in bytes. A process that has ended counts nothing. */
function measureMemory(pid: number): { readonly own: number; readonly children: number } {
  const sums = { own: 0, children: 0 };
  for (const one of readdirSync('/proc').map(Number).filter(Number.isInteger)) {
    try {
      const parent = Number(/\) . (\d+)/.exec(readFileSync(`/proc/${one}/stat`, 'utf8'))?.[1]);
      if (one !== pid && parent !== pid) continue;
      const bytes = Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${one}/status`, 'utf8'))?.[1] ?? 0) * 1024;
      sums[one === pid ? 'own' : 'children'] += bytes;
    } catch {
      // The process has ended.
    }
  }
  return sums;
}

/** A stream of another chat: its next token is sent after the one before has arrived. */
class LockStep {
  readonly #events: ReturnType<typeof providerEvents>;
  readonly #first: number;
  tokens = 0;
  slowestMs = 0;

  constructor(stage: AttachmentStage) {
    const deltas = Array.from({ length: MOST_TOKENS }, (_, number) => `<${number}>`);
    this.#events = providerEvents(stage.protocol, { parts: [{ kind: 'text', deltas }], usage: null });
    this.#first = this.#events.findIndex((event) => JSON.stringify(event).includes('<0>'));
  }

  /** Sends tokens until the work is over. */
  async during(stage: AttachmentStage, work: () => Promise<void>): Promise<void> {
    const counting = Promise.withResolvers<ProviderCall>();
    stage.provider.onCall = (call) => counting.resolve(call);
    const reader = await stage.post({ message: 'Count.' });
    const call = await within('call of the other chat', WAIT_MS, counting.promise);
    await call.bytes(sseText(this.#events.slice(0, this.#first)));
    let [isOver, from] = [false, 0];
    const over = work().finally(() => (isOver = true));
    over.catch(() => {});
    for (; !isOver && this.tokens < MOST_TOKENS; this.tokens += 1) {
      const token = `"<${this.tokens}>"`;
      const sentAt = performance.now();
      await call.bytes(sseText(this.#events.slice(this.#first + this.tokens, this.#first + this.tokens + 1)));
      const searchFrom = from;
      await within(
        `token ${this.tokens}`,
        WAIT_MS,
        reader.until(({ text }) => text.includes(token, searchFrom)),
      );
      from = reader.text.indexOf(token, from);
      this.slowestMs = Math.max(this.slowestMs, performance.now() - sentAt);
      await sleep(10);
    }
    call.cut();
    await over;
  }
}

/** Hostile documents cost at most their limits, while another stream stays in lock-step. */
async function hostile(stage: AttachmentStage) {
  const all = Object.keys(HOSTILE);
  const names = scale(['slow.pdf', 'words.docx', 'bomb.xlsx', 'deep.html'], all);
  const costs: { readonly name: string; readonly seconds: number; readonly mib: number; readonly tokens: number }[] =
    [];
  // Making them blocks this process, so it happens before the tokens.
  const paths = new Map<string, string>();
  for (const name of names) paths.set(name, await put(stage, name, HOSTILE[name]?.() ?? new Uint8Array()));
  const lockStep = new LockStep(stage);
  await lockStep.during(stage, async () => {
    for (const [name, path] of paths) {
      const before = measureMemory(stage.server.pid).own;
      const { tokens } = lockStep;
      let [peak, isOver] = [0, false];
      const startedAt = performance.now();
      const reading = readByTool(stage, { path, lines: 1 }).finally(() => (isOver = true));
      reading.catch(() => {});
      for (; !isOver; await sleep(50)) {
        const { own, children } = measureMemory(stage.server.pid);
        peak = Math.max(peak, children + Math.max(0, own - before));
      }
      const output = await reading;
      const seconds = (performance.now() - startedAt) / 1000;
      if (!output.startsWith(path))
        throw new Shortfall(`${name}: expected a sentence or a text, found ${output.slice(0, 300)}.`);
      const cost = { seconds: Math.round(seconds * 10) / 10, mib: Math.round(peak / MIB) };
      costs.push({ name, ...cost, tokens: lockStep.tokens - tokens });
    }
  });
  for (const { name, seconds, mib, tokens } of costs) {
    // Its conversion takes a second or more on any machine.
    if (name === 'slow.pdf') expectAtLeast(`tokens beside ${name}`, tokens, LEAST_TOKENS);
    expectAtMost(`seconds for ${name}`, seconds, MOST_SECONDS);
    expectAtMost(`MiB for ${name}`, mib, MOST_MIB);
  }
  return {
    hostile: costs.length,
    most_seconds: Math.max(...costs.map(({ seconds }) => seconds)),
    most_mib: Math.max(...costs.map(({ mib }) => mib)),
    lock_step_tokens: lockStep.tokens,
    slowest_token_ms: Math.round(lockStep.slowestMs),
  };
}

test('file tools read the text of attachments, also of hostile documents', async () => {
  const fault = plantedFault();
  await using stage = await AttachmentStage.start(fault, 'chat');
  const { status } = await stage.api.patch('/v2/integrations/metered', { fileAccess: 'all' });
  expectEqual('status of the integration', status, 200);
  count({ ...(await sameText(stage)), ...(await hostile(stage)) });
});
