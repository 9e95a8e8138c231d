import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FileServer } from '@runwire/test-kit';
import { AttachmentRig, attachmentsShown, fileAt } from './support/attachment-rig.ts';
import { GateNodes } from './support/gate-nodes.ts';
import { onOpenConnection } from './support/open-connection.ts';
import { messagesFrame } from './support/scripted-server.ts';
import { missingService } from './support/services.ts';

const skip = (await missingService('postgres')) ?? false;
const BODY = { apiIntegrationId: 'mine', consumerId: 'ann', usageRequestId: 'u1', chatId: 'c1' };
const TEXT = { 'content-type': 'text/plain' };

for (const [keepAttachments, fetches] of [
  [true, 1],
  [false, 2],
] as const) {
  const how = keepAttachments ? 'the copy is sent elsewhere' : 'without copies it is fetched again elsewhere';
  test(`a run that fetches while its server stops is handed over, and ${how}`, {
    skip,
    timeout: 60_000,
  }, async () => {
    await using files = await FileServer.start();
    using _ = files.trustHere();
    await using nodes = await GateNodes.begin();
    const first = await nodes.node({ limits: { drainMs: 0, handOverMs: 60_000 }, env: files.env });
    await nodes.integration(first, { keepAttachments });
    const held = files.hold('/notes.txt');
    const attachments = [fileAt(files.url('/notes.txt'))];
    const reader = await first.api.complete({ ...BODY, attachments });
    assert.equal(reader.status, 200);
    const runId = String(reader.headers['x-run-id']);
    const asked = await held.nextCall();
    const drained = first.server.drain();
    assert.equal((await onOpenConnection(() => first.api.get('/readyz'))).status, 503);
    files.serve('/notes.txt', 'Milk.', 'text/plain');
    asked.answer(200, 'Milk.', TEXT);
    await drained;
    assert.equal(await reader.over, false, 'its reader was cut');
    assert.deepEqual(await nodes.rows('select node_id, crashes from runs'), [{ node_id: '', crashes: 0 }]);
    assert.equal(nodes.model.calls.length, 0);
    await first[Symbol.asyncDispose]();

    const second = await nodes.node({ env: files.env });
    const call = await nodes.model.nextCall();
    assert.deepEqual([call.request.runId, call.request.attempt, call.request.step], [runId, 2, 1]);
    assert.match(JSON.stringify(attachmentsShown(call)), /Milk\./);
    await call.text('Milk');
    await call.end();
    const rest = await second.api.events(runId, 0, 'mine');
    await rest.whole();
    assert.deepEqual([messagesFrame(rest).status, rest.answer], ['completed', 'Milk']);
    assert.deepEqual([nodes.model.calls.length, files.requests.length], [1, fetches]);
  });
}

test('a run that is cancelled while it fetches ends without a model call', { timeout: 60_000 }, async () => {
  await using rig = await AttachmentRig.start({ limits: { cancelPatienceMs: 100 } });
  const held = rig.files.hold('/notes.txt');
  const attachments = [fileAt(rig.files.url('/notes.txt'))];
  const reader = await rig.api.complete({ chatId: 'c', message: 'Read', attachments });
  const asked = await held.nextCall();
  const path = `/v2/integrations/demo/runs/${reader.headers['x-run-id']}/cancel`;
  const { body } = await rig.api.post(path, { mode: 'after_step' });
  assert.equal(body.status, 'cancelling');
  asked.answer(200, 'Milk.', TEXT);
  await reader.whole();
  assert.deepEqual([messagesFrame(reader).status, rig.rig.controller.calls.length], ['cancelled', 0]);
});
