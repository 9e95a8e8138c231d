import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import type { DocumentReader } from '@runwire/documents';
import { askToRead, pdfOfPages, STORES, TestFiles } from '@runwire/test-kit';
import { documentReader } from '@runwire/test-kit/read-document.ts';
import { sampleDocument } from '@runwire/test-kit/sample-documents.ts';
import { pathInMount } from '@runwire/test-kit/test-files.ts';
import { notAudited } from '../audit/audit.ts';
import { newIntegrationId } from '../domain/ids.ts';

const PATH = '/app/mnt/a.pdf';
const BELOW = pathInMount('a.pdf');
const PDF = 'application/pdf';

const real = documentReader();
after(() => real[Symbol.asyncDispose]());

/** The real reader, which counts its calls and waits before each. */
class CountedReader {
  count = 0;
  /** Called before each read. */
  before: () => Promise<void> = async () => {};
  /** The last read's signal. */
  signal: AbortSignal | null = null;

  read: DocumentReader['read'] = async (source, options, signal) => {
    this.count += 1;
    this.signal = signal;
    await this.before();
    return await real.read(source, options, signal);
  };
}

async function getBlobs({ blobs }: TestFiles): Promise<Set<string>> {
  const keys = new Set<string>();
  for await (const { key } of blobs.list()) keys.add(key);
  return keys;
}

for (const store of STORES) {
  describe(store, () => {
    test('makes the text once for each version of a file', async () => {
      const reader = new CountedReader();
      await using stored = await TestFiles.open({ store, reader });
      const files = stored.seenBy('one');
      await stored.put('one', PATH, pdfOfPages(2), PDF);
      const first = await askToRead(files, PATH);
      assert.match(first, /Page 2 speaks/);
      assert.equal(await askToRead(files, PATH), first);
      assert.equal(reader.count, 1);
      const file = await stored.files.find(newIntegrationId('one'), BELOW);
      assert.ok(file?.textKey);
      assert.deepEqual(await getBlobs(stored), new Set([file.blobKey, file.textKey]));
      await stored.put('one', PATH, pdfOfPages(3), PDF);
      assert.match(await askToRead(files, PATH), /Page 3 speaks/);
      assert.equal(reader.count, 2);
      await stored.files.delete(newIntegrationId('one'), BELOW, notAudited);
      assert.equal(await askToRead(files, PATH), `There is no file ${PATH}.`);
    });

    test('a text of a replaced or deleted file is not stored', async () => {
      const reader = new CountedReader();
      await using stored = await TestFiles.open({ store, reader });
      const files = stored.seenBy('one');
      for (const change of [
        () => stored.put('one', PATH, pdfOfPages(2), PDF),
        async () => void (await stored.files.delete(newIntegrationId('one'), BELOW, notAudited)),
      ]) {
        await stored.put('one', PATH, pdfOfPages(1), PDF);
        const before = await getBlobs(stored);
        reader.before = async () => {
          reader.before = async () => {};
          await change();
        };
        // The reader sees the version that it opened.
        assert.match(await askToRead(files, PATH), /Page 1 speaks\.$/);
        const file = await stored.files.find(newIntegrationId('one'), BELOW);
        assert.equal(file?.textKey ?? null, null);
        const added = (await getBlobs(stored)).difference(before);
        assert.deepEqual(added, new Set(file === null ? [] : [file.blobKey]), 'only the new version was added');
      }
    });

    test('a reader on another node that was faster wins, and one text stays', async () => {
      const reader = new CountedReader();
      await using stored = await TestFiles.open({ store, reader });
      await stored.put('one', PATH, pdfOfPages(1), PDF);
      const [here, there] = [stored.seenBy('one'), stored.seenByAnotherNode('one')];
      reader.before = async () => {
        reader.before = async () => {};
        assert.match(await askToRead(there, PATH), /Page 1 speaks/);
      };
      assert.match(await askToRead(here, PATH), /Page 1 speaks/);
      assert.equal(reader.count, 2);
      assert.equal((await getBlobs(stored)).size, 2);
    });

    test('a text that is lost or damaged is made again', async () => {
      const reader = new CountedReader();
      await using stored = await TestFiles.open({ store, reader });
      const files = stored.seenBy('one');
      await stored.put('one', PATH, pdfOfPages(1), PDF);
      const text = await askToRead(files, PATH);
      const { textKey } = (await stored.files.find(newIntegrationId('one'), BELOW)) ?? {};
      assert.ok(typeof textKey === 'string');
      await stored.blobs.put(textKey, Buffer.from('other'));
      assert.equal(await askToRead(files, PATH), text);
      await stored.blobs.delete(textKey);
      assert.equal(await askToRead(files, PATH), text);
      assert.equal(reader.count, 3);
    });
  });
}

test('two concurrent readers share one conversion, and one may leave', async () => {
  const reader = new CountedReader();
  await using stored = await TestFiles.open({ reader });
  const files = stored.seenBy('one');
  await stored.put('one', PATH, pdfOfPages(1), PDF);
  const [began, go] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  reader.before = () => {
    began.resolve();
    return go.promise;
  };
  const leave = new AbortController();
  const leaving = askToRead(files, PATH, {}, leave.signal);
  await began.promise;
  await using opened = await files.open(BELOW);
  const staying = opened?.convert(new AbortController().signal);
  // Nothing is stored yet, so the second reader waits for the conversion after some microtasks.
  await new Promise((resolve) => setImmediate(resolve));
  leave.abort(new Error('The run was cancelled.'));
  assert.equal(await leaving, 'The tool failed: The run was cancelled.');
  assert.equal(reader.signal?.aborted, false);
  go.resolve();
  const converted = await staying;
  assert.ok(converted !== undefined && 'text' in converted && converted.text.includes('Page 1 speaks'));
  assert.equal(reader.count, 1);
});

test('a conversion stops when its last reader leaves, and a later reader begins a new one', async () => {
  const reader = new CountedReader();
  await using stored = await TestFiles.open({ reader });
  const files = stored.seenBy('one');
  await stored.put('one', PATH, pdfOfPages(1), PDF);
  const began = Promise.withResolvers<void>();
  reader.before = () => {
    began.resolve();
    return new Promise(() => {});
  };
  const leave = new AbortController();
  const leaving = askToRead(files, PATH, {}, leave.signal);
  await began.promise;
  leave.abort(new Error('The run was cancelled.'));
  await leaving;
  assert.equal(reader.signal?.aborted, true);
  reader.before = async () => {};
  assert.match(await askToRead(files, PATH), /Page 1 speaks/);
});

test('a failure is remembered by the node, and not stored', async () => {
  const reader = new CountedReader();
  await using stored = await TestFiles.open({ reader });
  await stored.put('one', PATH, sampleDocument('encrypted.pdf'), PDF);
  const sentence = `${PATH} is encrypted; attach it without a password.`;
  for (const _ of [1, 2]) assert.equal(await askToRead(stored.seenBy('one'), PATH), sentence);
  assert.equal(reader.count, 1);
  assert.equal((await stored.files.find(newIntegrationId('one'), BELOW))?.textKey, null);
  assert.equal(await askToRead(stored.seenByAnotherNode('one'), PATH), sentence);
  assert.equal(reader.count, 2);
  await stored.put('one', PATH, pdfOfPages(1), PDF);
  assert.match(await askToRead(stored.seenBy('one'), PATH), /Page 1 speaks/);
});

test('a document above the limit is not read into memory', async () => {
  const reader = new CountedReader();
  await using stored = await TestFiles.open({ reader, maxDocumentBytes: 1000 });
  await stored.put('one', PATH, pdfOfPages(100), PDF);
  assert.match(
    await askToRead(stored.seenBy('one'), PATH),
    / only documents of at most 1000 bytes are converted to text\.$/,
  );
  assert.equal(reader.count, 0);
});
