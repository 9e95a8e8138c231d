import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FileServer, makePng } from '@runwire/test-kit';
import { attachmentsShown, blobsIn, fileAt, imageAt } from './support/attachment-rig.ts';
import { eventually } from './support/eventually.ts';
import { KillableServer } from './support/killable-server.ts';

test('a run that another process resumes fetches again if no copy is kept', async () => {
  await using files = await FileServer.start();
  const url = files.serve('/notes.txt', 'Milk.', 'text/plain');
  await using server = await KillableServer.start({ env: files.env });
  await server.api.post('/v2/integrations', { apiIntegrationId: 'mine', agency: 'test', keepAttachments: false });
  const attachments = [fileAt(url)];
  await server.hold({ apiIntegrationId: 'mine', chatId: 'c', message: 'Read', attachments });
  assert.equal(blobsIn(server.dataDir).length, 1);
  await server.process.kill();
  using _ = files.trustHere();
  await server.startAgain({ env: files.env });
  const call = await server.controller.nextCall();
  assert.match(JSON.stringify(attachmentsShown(call)), /Milk\./);
  assert.equal(files.requests.length, 2);
  await call.end();
  await eventually('what this run put aside is gone', async () => blobsIn(server.dataDir).length === 1);
});

test('a call that a kill interrupted is charged with the text of its attachments', async () => {
  await using files = await FileServer.start();
  const attachments = [
    fileAt(files.serve('/long.txt', 'word '.repeat(8000), 'text/plain')),
    imageAt(files.serve('/a.png', makePng(100), 'image/png')),
  ];
  // The third flush stores some text of the model.
  const doomed = { env: files.env, killAt: 'flush.after-commit', killAfter: 3 } as const;
  await using server = await KillableServer.start(doomed);
  const { call, runId } = await server.hold({ chatId: 'c', message: 'Read', attachments });
  while (!call.isClosed) await Promise.race([call.text('word '), call.closed]);
  await server.startAgain({ limits: { maxAttempts: 1 } });
  const { body: run } = await server.api.get(`/v2/integrations/demo/runs/${runId}`);
  assert.equal(run.error.code, 'run_interrupted');
  // The charge has 10 000 tokens of text and 1 000 of an image, in addition to instructions and message.
  assert.ok(run.usage.input_tokens >= 11_000 && run.usage.input_tokens < 12_000, String(run.usage.input_tokens));
});
