import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type BlobStore, makePng } from '@runwire/test-kit';
import { AttachmentRig, attachmentsShown, blobsIn, fileAt, imageAt } from './support/attachment-rig.ts';
import { eventually } from './support/eventually.ts';
import { messagesFrame } from './support/scripted-server.ts';

type BlobOperation = 'put' | 'read' | 'has' | 'delete';

/** A blob store that stops answering one kind of operation, like a bucket without a network. */
class SilentBlobs {
  #silent: BlobOperation | null = null;
  #asked = Promise.withResolvers<void>();
  #back = Promise.withResolvers<void>();

  /** Resolves after the first operation that gets no answer. */
  silence(what: BlobOperation): Promise<void> {
    this.#silent = what;
    this.#asked = Promise.withResolvers();
    this.#back = Promise.withResolvers();
    return this.#asked.promise;
  }

  answerAgain(): void {
    this.#silent = null;
    this.#back.resolve();
  }

  wrap = (blobs: BlobStore): BlobStore => {
    const ask = async <T>(what: BlobOperation, job: () => Promise<T>): Promise<T> => {
      if (this.#silent === what) {
        this.#asked.resolve();
        await this.#back.promise;
      }
      return await job();
    };
    return {
      put: (...given) => ask('put', () => blobs.put(...given)),
      read: (...given) => ask('read', () => blobs.read(...given)),
      has: (...given) => ask('has', () => blobs.has(...given)),
      delete: (...given) => ask('delete', () => blobs.delete(...given)),
      deleteUnfinished: (...given) => blobs.deleteUnfinished(...given),
      write: (...given) => blobs.write(...given),
      open: (...given) => blobs.open(...given),
      holds: (...given) => blobs.holds(...given),
      list: () => blobs.list(),
    };
  };
}

const notes = (rig: AttachmentRig) => fileAt(rig.files.serve('/notes.txt', 'Remember the milk.', 'text/plain'));
const picture = (rig: AttachmentRig) => imageAt(rig.files.serve('/a.png', makePng(300), 'image/png'));

test('a finished answer does not wait for the deletion of scratch blobs', { timeout: 60_000 }, async () => {
  const blobs = new SilentBlobs();
  await using rig = await AttachmentRig.start({ wrapBlobs: blobs.wrap });
  const { server } = rig.rig.server;
  const apiIntegrationId = await rig.rig.integration({ keepAttachments: false });
  const asked = blobs.silence('delete');
  const answered = await rig.rig.answer({ apiIntegrationId, message: 'Read', attachments: [notes(rig)] }, 'Milk.');
  assert.equal(messagesFrame(answered.reader).status, 'completed');
  await asked;
  await eventually('it is no longer active', async () => server.probes.activeRuns() === 0);
  await rig.rig.server[Symbol.asyncDispose]();
});

for (const [what, keepAttachments, attached] of [
  ['read', true, notes],
  ['has', true, picture],
] as const) {
  test(`a run that waits for a copy (${what}) is cancelled immediately`, { timeout: 60_000 }, async () => {
    const blobs = new SilentBlobs();
    await using rig = await AttachmentRig.start({ wrapBlobs: blobs.wrap });
    const apiIntegrationId = await rig.rig.integration({ keepAttachments });
    const body = { apiIntegrationId, chatId: 'c', message: 'Read' };
    const first = await rig.rig.answer({ ...body, attachments: [attached(rig)] });
    const asked = blobs.silence(what);
    await cancelled(rig, body, asked);
    blobs.answerAgain();
    const next = await rig.rig.answer(body);
    assert.deepEqual(attachmentsShown(next.call)[0], attachmentsShown(first.call)[0]);
  });
}

for (const keepAttachments of [true, false]) {
  test(`a run whose ${keepAttachments ? 'copy' : 'scratch blob'} cannot be stored is cancelled`, {
    timeout: 60_000,
  }, async () => {
    const blobs = new SilentBlobs();
    await using rig = await AttachmentRig.start({
      wrapBlobs: blobs.wrap,
      limits: { unusedBlobMs: 0, sweepMs: 3_600_000 },
    });
    const apiIntegrationId = await rig.rig.integration({ keepAttachments });
    const asked = blobs.silence('put');
    await cancelled(rig, { apiIntegrationId, chatId: 'c', message: 'Read', attachments: [notes(rig)] }, asked);
    blobs.answerAgain();
    const { dataDir, server } = rig.rig.server;
    await eventually('what was put too late is gone', async () => {
      // The sweep deletes a copy that no row refers to. A scratch blob is deleted after its put.
      if (keepAttachments) await server.probes.sweepBlobs();
      return blobsIn(dataDir).length === 0;
    });
  });
}

test('a server stops although a run of it waits for a copy', { timeout: 60_000 }, async () => {
  const blobs = new SilentBlobs();
  await using rig = await AttachmentRig.start({ wrapBlobs: blobs.wrap });
  const body = { chatId: 'c', message: 'Read' };
  await rig.rig.answer({ ...body, attachments: [notes(rig)] });
  const asked = blobs.silence('read');
  const reader = await rig.api.complete(body);
  await asked;
  await rig.rig.server[Symbol.asyncDispose]();
  assert.equal(await reader.over, false);
});

/** Posts, waits until the blobs stop answering, and cancels: the run ends while they are still silent. */
async function cancelled(
  rig: AttachmentRig,
  body: Parameters<AttachmentRig['api']['complete']>[0],
  asked: Promise<void>,
) {
  const reader = await rig.api.complete(body);
  await asked;
  const runs = `/v2/integrations/${body.apiIntegrationId}/runs`;
  const { body: run } = await rig.api.post(`${runs}/${reader.headers['x-run-id']}/cancel`);
  assert.equal(run.status, 'cancelled');
  await reader.whole();
  assert.equal(messagesFrame(reader).status, 'cancelled');
  assert.equal(rig.rig.server.server.probes.attachmentsBytes(), 0);
  assert.equal(rig.rig.controller.calls.length, body.attachments === undefined ? 1 : 0);
}
