import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import {
  fullTest,
  type ModelCall,
  makePng,
  SAMPLE_IMAGES,
  STORES,
  type StoreName,
  scriptedModel,
  temporaryFolder,
} from '@runwire/test-kit';
import { cites } from '../requirements/cite.ts';
import { AttachmentRig, attachmentsShown, blobsIn, fileAt, imageAt } from './support/attachment-rig.ts';
import { eventually } from './support/eventually.ts';
import { messagesFrame, ScriptedServer } from './support/scripted-server.ts';

const png = Buffer.from(SAMPLE_IMAGES['image/png'], 'base64');
const fixture = (name: string) => readFileSync(new URL(`../packages/documents/src/fixtures/${name}`, import.meta.url));
const pdf = fixture('libreoffice.pdf');
const scan = fixture('scanned.pdf');

const toPrompt = ({ request }: ModelCall) => JSON.stringify(request.prompt).slice(0, -1);
/** True if the later prompt begins with the earlier one, byte for byte. */
const beginsWith = (later: ModelCall, earlier: ModelCall) => toPrompt(later).startsWith(`${toPrompt(earlier)},`);
const kindsShown = (call: ModelCall) =>
  attachmentsShown(call).map((turn) => turn.map(({ kind, name }) => `${kind} ${name}`));

/** Waits, because a run does not wait for the deletion of its scratch blobs. */
const nothingIn = (dataDir: string) => eventually('nothing is left', async () => blobsIn(dataDir).length === 0);

const computeHash = (bytes: Buffer) => hash('sha256', bytes);

for (const store of STORES) describe(store, () => tests(store));

function tests(store: StoreName): void {
  test('later turns send the stored copies byte for byte and fetch nothing', async (t) => {
    cites(t, 'contract-7-fetched-once', 'spec-1-other-attachments');
    await using rig = await AttachmentRig.start({ store });
    const attachments = [
      imageAt(rig.files.serve('/a.png', png, 'image/png')),
      fileAt(rig.files.serve('/notes.txt', 'Remember the milk.', 'text/plain')),
      fileAt(rig.files.serve('/report.pdf', pdf, 'application/pdf')),
    ];
    const first = await rig.rig.answer({ chatId: 'c', message: 'Look', attachments });
    for (const path of ['/a.png', '/notes.txt', '/report.pdf']) rig.files.serve(path, 'Changed.', 'text/plain');
    const second = await rig.rig.answer({ chatId: 'c', message: 'And?' });
    const third = await rig.rig.answer({ chatId: 'c', message: 'So?' });
    assert.ok(beginsWith(second.call, first.call));
    assert.ok(beginsWith(third.call, second.call));
    assert.equal(rig.files.requests.length, 3);
  });

  test('attachments of a failed turn are sent only if they are attached again', async (t) => {
    cites(t, 'contract-7-failed-turn', 'spec-1-failed-attachments');
    await using rig = await AttachmentRig.start({ store });
    const attachments = [fileAt(rig.files.serve('/notes.txt', 'Milk.', 'text/plain'))];
    const failed = await rig.rig.hold({ chatId: 'c', message: 'Look', attachments });
    await failed.call.fail('model_error', 'The model broke.');
    await failed.reader.whole();
    const second = await rig.rig.answer({ chatId: 'c', message: 'And?' });
    assert.deepEqual(kindsShown(second.call), [[], []]);
    const third = await rig.rig.answer({ chatId: 'c', message: 'Again', attachments });
    assert.deepEqual(kindsShown(third.call), [[], [], ['text notes.txt']]);
    assert.equal(rig.files.requests.length, 2);
  });

  test('a run whose attachment cannot be fetched is free of charge', async (t) => {
    cites(t, 'contract-6-charged-zero-attachment');
    await using rig = await AttachmentRig.start({ store });
    const integration = await rig.rig.metered({ unit: 'runs', limit: 5, period: 'lifetime' });
    const body = { apiIntegrationId: integration, consumerId: 'ann', usageRequestId: 'gone' };
    const reader = await rig.api.complete({ ...body, attachments: [fileAt(rig.files.serve('/gone', '', null, 404))] });
    await reader.whole();
    assert.equal(messagesFrame(reader).error.code, 'attachment_unavailable');
    const { used, reserved } = await rig.rig.allowance(integration);
    assert.deepEqual([used, reserved], [0, 0]);
  });

  test('only the fetched attachments of a cancelled turn are sent again', async (t) => {
    cites(t, 'contract-7-cancelled-turn');
    const recorded = Promise.withResolvers<void>();
    const waitAt = (point: string) => {
      if (point === 'attachment.after-commit') recorded.resolve();
    };
    await using rig = await AttachmentRig.start({ store, waitAt });
    const held = rig.files.hold('/slow.txt');
    const attachments = [
      fileAt(rig.files.serve('/notes.txt', 'Milk.', 'text/plain')),
      fileAt(rig.files.url('/slow.txt')),
    ];
    const reader = await rig.api.complete({ chatId: 'c', message: 'Look', attachments });
    const asked = await held.nextCall();
    await recorded.promise;
    await rig.api.post(`/v2/integrations/demo/runs/${reader.headers['x-run-id']}/cancel`);
    assert.equal(await asked.closed, false, 'its connection is gone');
    await reader.whole();
    assert.equal(rig.rig.server.server.probes.attachmentsBytes(), 0);
    const second = await rig.rig.answer({ chatId: 'c', message: 'And?' });
    assert.deepEqual(kindsShown(second.call), [['text notes.txt'], []]);
  });

  test('fetches again in each turn if no copies are kept; the prompt stays equal', async (t) => {
    cites(t, 'contract-7-fetched-once');
    await using rig = await AttachmentRig.start({ store });
    const { dataDir } = rig.rig.server;
    const apiIntegrationId = await rig.rig.integration({ keepAttachments: false });
    const attachments = [
      imageAt(rig.files.serve('/a.png', png, 'image/png')),
      fileAt(rig.files.serve('/notes.txt', 'Remember the milk.', 'text/plain')),
    ];
    const first = await rig.rig.answer({ apiIntegrationId, chatId: 'c', message: 'Look', attachments });
    await nothingIn(dataDir);
    const second = await rig.rig.answer({ apiIntegrationId, chatId: 'c', message: 'And?' });
    assert.ok(beginsWith(second.call, first.call));
    await nothingIn(dataDir);
    assert.deepEqual([rig.files.asked('/a.png').length, rig.files.asked('/notes.txt').length], [2, 2]);

    rig.files.serve('/notes.txt', 'Gone', 'text/plain', 404);
    const reader = await rig.api.complete({ apiIntegrationId, chatId: 'c', message: 'And now?' });
    await reader.whole();
    const { body: run } = await rig.api.get(`/v2/integrations/${apiIntegrationId}/runs/${reader.headers['x-run-id']}`);
    assert.equal(run.error.code, 'attachment_unavailable');
    assert.match(
      run.error.message,
      /^`attachments\[1\]` of an earlier message \(run run_\w+\), https:\/\/127\.0\.0\.1:\d+\/notes\.txt, could not be fetched: its server answered 404; send a fresh link to it in `attachmentUrlRefreshes` of a new message, or start a new chat\.$/,
    );
    await nothingIn(dataDir);

    await rig.api.patch(`/v2/integrations/${apiIntegrationId}`, { keepAttachments: true });
    rig.files.serve('/notes.txt', 'Remember the milk.', 'text/plain');
    await rig.rig.answer({ apiIntegrationId, chatId: 'c', message: 'Keep it' });
    assert.equal(blobsIn(dataDir).length, 2, 'from now on there are copies');
    const asked = rig.files.requests.length;
    const last = await rig.rig.answer({ apiIntegrationId, chatId: 'c', message: 'Once more' });
    assert.ok(beginsWith(last.call, first.call));
    assert.equal(rig.files.requests.length, asked);
  });

  // Without copies nothing of it depends on the store.
  for (const keepAttachments of store === 'sqlite' ? [true, false] : [true]) {
    fullTest(
      `an earlier scan does not break the chat for a model without PDFs, ${keepAttachments ? 'with' : 'without'} copies`,
      async () => {
        const dataDir = temporaryFolder();
        await using rig = await AttachmentRig.start({ store, dataDir }, { takesPdf: true });
        const url = rig.files.serve('/scan.pdf', scan, 'application/pdf');
        const apiIntegrationId = await rig.rig.integration({ keepAttachments });
        const body = { apiIntegrationId, chatId: 'c', message: 'Read' };
        const first = await rig.rig.answer({ ...body, attachments: [fileAt(url)] });
        assert.deepEqual(kindsShown(first.call), [['pdf scan.pdf']]);
        await rig.rig[Symbol.asyncDispose]();

        await using other = await ScriptedServer.start({ store, dataDir, env: rig.files.env });
        const [second, third] = [await other.answer(body), await other.answer(body)];
        const text =
          '[File "scan.pdf", application/pdf: it was attached as a PDF, and this model takes none; no text could be read from it]';
        assert.deepEqual(attachmentsShown(second.call)[0], [
          { kind: 'text', name: 'scan.pdf', mediaType: 'application/pdf', text },
        ]);
        assert.ok(beginsWith(third.call, second.call));
        const { body: metrics } = await other.api.get('/metrics');
        assert.match(String(metrics), /^runwire_attachments_total\{outcome="unreadable"\} 2$/m, 'said once a turn');

        const own = await other.api.complete({ ...body, attachments: [fileAt(url)] });
        assert.match(JSON.stringify(await own.whole()), /attachments\[0\].{1,3} of this message.*has no text in it/);
        if (!keepAttachments) {
          rig.files.serve('/scan.pdf', '<!doctype html><title>Sign in</title>', 'text/html');
          const page = await other.api.complete(body);
          assert.match(
            JSON.stringify(await page.whole()),
            /of an earlier message .*should be a PDF, but the server sent/,
          );
          rig.files.serve('/scan.pdf', scan, 'application/pdf');
        }
        await other[Symbol.asyncDispose]();

        await using taking = await ScriptedServer.start({
          store,
          dataDir,
          env: rig.files.env,
          getModel: (port) => scriptedModel(port, { takesPdf: true }),
        });
        const last = await taking.answer(body);
        assert.deepEqual(attachmentsShown(last.call)[0], attachmentsShown(first.call)[0], 'it is sent as it is');
        await taking[Symbol.asyncDispose]();
        rmSync(dataDir, { recursive: true, force: true });
      },
    );
  }
}

fullTest('fetches a lost or damaged copy again and stores it under its name', async () => {
  await using rig = await AttachmentRig.start();
  const { dataDir } = rig.rig.server;
  const attachments = [
    imageAt(rig.files.serve('/a.png', makePng(3000, 1), 'image/png')),
    imageAt(rig.files.serve('/b.png', makePng(4000, 2), 'image/png')),
    fileAt(rig.files.serve('/notes.txt', 'Remember the milk.', 'text/plain')),
  ];
  const first = await rig.rig.answer({ chatId: 'c', message: 'Look', attachments });
  const blobs = blobsIn(dataDir).sort();
  const whole = blobs.map((path) => readFileSync(join(dataDir, 'blobs', path)));
  for (const [place, path] of blobs.entries()) {
    const bytes = whole[place] ?? Buffer.alloc(0);
    if (bytes.length === 3000) writeFileSync(join(dataDir, 'blobs', path), Buffer.alloc(3000, 7));
    else rmSync(join(dataDir, 'blobs', path));
  }
  const second = await rig.rig.answer({ chatId: 'c', message: 'And?' });
  assert.ok(beginsWith(second.call, first.call));
  assert.deepEqual(
    blobsIn(dataDir)
      .sort()
      .map((path) => [path, computeHash(readFileSync(join(dataDir, 'blobs', path)))]),
    blobs.map((path, place) => [path, computeHash(whole[place] ?? Buffer.alloc(0))]),
  );
  assert.deepEqual(rig.files.requests.map(({ path }) => path).sort(), [
    ...['/a.png', '/a.png', '/b.png', '/b.png', '/notes.txt', '/notes.txt'],
  ]);

  for (const path of blobs) rmSync(join(dataDir, 'blobs', path));
  rig.files.serve('/notes.txt', 'It changed.', 'text/plain');
  const third = await rig.rig.answer({ chatId: 'c', message: 'And now?' });
  assert.match(JSON.stringify(attachmentsShown(third.call)[0]), /It changed\./);
  const asked = rig.files.requests.length;
  const fourth = await rig.rig.answer({ chatId: 'c', message: 'So?' });
  assert.ok(beginsWith(fourth.call, third.call));
  assert.equal(rig.files.requests.length, asked);
});

fullTest('a PDF becomes text for a model that takes no PDFs, and stays text', async () => {
  const dataDir = temporaryFolder();
  const attach = { chatId: 'c', message: 'Read' };
  let url = '';
  const turn = async (takesPdf: boolean, more: object = {}) => {
    await using rig = await AttachmentRig.start({ dataDir }, { takesPdf });
    if (url === '') url = rig.files.serve('/report.pdf', pdf, 'application/pdf');
    const attachments = 'isFirst' in more ? [fileAt(url)] : [];
    const { call } = await rig.rig.answer({ ...attach, attachments });
    return { call, asked: rig.files.requests.length };
  };
  const first = await turn(true, { isFirst: true });
  assert.deepEqual([kindsShown(first.call)[0], first.asked], [['pdf report.pdf'], 1]);
  const second = await turn(false);
  assert.deepEqual([kindsShown(second.call)[0], second.asked], [['text report.pdf'], 0]);
  const third = await turn(true);
  assert.deepEqual([kindsShown(third.call)[0], third.asked], [['text report.pdf'], 0]);
  assert.ok(beginsWith(third.call, second.call));
  rmSync(dataDir, { recursive: true, force: true });
});

test("attachments of turns outside the model's window are not fetched", async () => {
  await using rig = await AttachmentRig.start({ env: { RUNWIRE_MODEL_WINDOW: '4000' } });
  const apiIntegrationId = await rig.rig.integration({ keepAttachments: false });
  const text = (words: string) => words.padEnd(4000, ' word');
  for (const name of ['1', '2', '3', '4']) {
    const attachments = [fileAt(rig.files.serve(`/${name}.txt`, text(name), 'text/plain'))];
    await rig.rig.answer({ apiIntegrationId, chatId: 'c', message: 'Read', attachments });
  }
  const before = rig.files.requests.length;
  const { call } = await rig.rig.answer({ apiIntegrationId, chatId: 'c', message: 'And?' });
  const shown = attachmentsShown(call).flat();
  assert.ok(shown.length > 0 && shown.length < 4, String(shown.length));
  assert.equal(rig.files.requests.length - before, shown.length);
});
