import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hookStore, makePng } from '@runwire/test-kit';
import { cites } from '../requirements/cite.ts';
import { askStore } from './support/ask-store.ts';
import { AttachmentRig, attachmentsShown, blobsIn, fileAt, imageAt } from './support/attachment-rig.ts';
import { eventually } from './support/eventually.ts';

/** Posts one message with this attachment, and resolves to its run's error. */
async function failing(rig: AttachmentRig, attachment: object): Promise<string> {
  const reader = await rig.api.complete({ message: 'Look', attachments: [attachment] });
  await reader.whole();
  return (await rig.api.get(`/v2/integrations/demo/runs/${reader.headers['x-run-id']}`)).body.error.message;
}

test('accepts a file of exactly the largest size and refuses a byte more', async (t) => {
  cites(t, 'contract-4-limit-attachment');
  await using rig = await AttachmentRig.start({ limits: { attachmentBytes: 5000 } });
  const at = (size: number) => imageAt(rig.files.serve(`/${size}.png`, makePng(size), 'image/png'));
  const { call } = await rig.rig.answer({ message: 'Look', attachments: [at(5000)] });
  assert.equal(attachmentsShown(call).flat().length, 1);
  assert.match(await failing(rig, at(5001)), /could not be fetched: it is larger than 5000 bytes; attach/);
  assert.equal(rig.rig.server.server.probes.attachmentsBytes(), 0);
});

test('a fetch from a slow server has a time limit', async (t) => {
  cites(t, 'contract-4-limit-attachment');
  await using rig = await AttachmentRig.start({ limits: { attachmentMs: 1000 } });
  rig.files.hold('/slow.txt');
  const said = await failing(rig, fileAt(rig.files.url('/slow.txt')));
  assert.match(said, /could not be fetched: it took longer than 1 seconds?; attach/);
  assert.equal(rig.rig.server.server.probes.attachmentsBytes(), 0);
});

test('the time limit of a run ends a fetch too, and leaves no connection', async () => {
  await using rig = await AttachmentRig.start();
  const apiIntegrationId = await rig.rig.integration({ maxRunSeconds: 5, keepAttachments: false });
  const held = rig.files.hold('/slow.txt');
  const attachments = [
    imageAt(rig.files.serve('/a.png', makePng(100), 'image/png')),
    fileAt(rig.files.url('/slow.txt')),
  ];
  const post = () => rig.api.complete({ apiIntegrationId, message: 'Look', attachments });
  const call = held.nextCall();
  let reader = await post();
  let asked = await Promise.race([call, reader.over.then(() => null)]);
  // A machine that freezes can use up the time before the first request. Then try again.
  for (let more = 4; asked === null && more > 0; more -= 1) {
    reader = await post();
    asked = await Promise.race([call, reader.over.then(() => null)]);
  }
  await reader.whole();
  assert.equal(await asked?.closed, false);
  const { body: run } = await rig.api.get(`/v2/integrations/${apiIntegrationId}/runs/${reader.headers['x-run-id']}`);
  assert.deepEqual([run.status, run.error.code], ['failed', 'run_timeout']);
  assert.equal(rig.rig.server.server.probes.attachmentsBytes(), 0);
  await eventually('nothing is left', async () => blobsIn(rig.rig.server.dataDir).length === 0);
});

test('two runs that store the same bytes concurrently both send them', async () => {
  let left = 2;
  const both = Promise.withResolvers<void>();
  const recorded: boolean[] = [];
  const wrapStore = hookStore({
    transact: async (name, transact) => {
      if (name !== 'attachment') return await transact();
      left -= 1;
      if (left === 0) both.resolve();
      await both.promise;
      try {
        const done = await transact();
        recorded.push(true);
        return done;
      } catch (error) {
        recorded.push(false);
        throw error;
      }
    },
  });
  await using rig = await AttachmentRig.start({ wrapStore });
  const post = (path: string) => {
    const attachments = [fileAt(rig.files.serve(path, 'The same.', 'text/plain'))];
    return rig.api.complete({ message: 'Read', attachments });
  };
  const runs = await Promise.all(['/a.txt', '/b.txt'].map(post));
  for (const call of [await rig.rig.controller.nextCall(), await rig.rig.controller.nextCall()]) {
    assert.match(JSON.stringify(attachmentsShown(call)), /The same\./);
    await call.end();
  }
  for (const reader of runs) assert.equal((await reader.whole()).at(-1)?.event, 'end');
  assert.deepEqual(recorded.sort(), [false, true, true], 'one of them kept its bytes again, as the other has them');
});

test('a run that another node took over records no attachment, asks no model', async () => {
  await using rig = await AttachmentRig.start();
  const { dataDir, server } = rig.rig.server;
  const held = rig.files.hold('/notes.txt');
  const reader = await rig.api.complete({ message: 'Read', attachments: [fileAt(rig.files.url('/notes.txt'))] });
  const asked = await held.nextCall();
  await askStore(dataDir, 'update runs set attempt = 2');
  asked.answer(200, 'Milk.', { 'content-type': 'text/plain' });
  await eventually('this attempt is over', async () => server.probes.activeRuns() === 0);
  const [run] = await askStore(dataDir, 'select journal_format from runs');
  assert.ok(Number(run?.journal_format) >= 2, 'versions that know no attachments by URL leave it to others');
  const rows = await askStore(dataDir, 'select form, blob_key from attachments');
  assert.deepEqual(
    rows.map((row) => ({ ...row })),
    [{ form: null, blob_key: null }],
  );
  assert.deepEqual(await askStore(dataDir, 'select 1 from blobs'), []);
  assert.equal(rig.rig.controller.calls.length, 0);
  reader.cut();
});
