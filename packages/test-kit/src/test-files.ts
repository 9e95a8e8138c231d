import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { DocumentReader } from '@runwire/documents';
import { INTEGRATION_DEFAULTS } from '@runwire/server/src/accounts/integrations.ts';
import type { AgentFiles } from '@runwire/server/src/agent/files-port.ts';
import { ErasedIds } from '@runwire/server/src/domain/erased-ids.ts';
import { checkFilePath } from '@runwire/server/src/domain/mount-path.ts';
import { FileTexts } from '@runwire/server/src/files/file-texts.ts';
import { Files } from '@runwire/server/src/files/files.ts';
import { FairBudget } from '@runwire/server/src/lib/fair-budget.ts';
import { DocumentTexts } from '@runwire/server/src/sandbox/document-texts.ts';
import { runFiles } from '@runwire/server/src/sandbox/run-files.ts';
import type { BlobStore } from '@runwire/server/src/storage/blob-store.ts';
import { DiskBlobStore } from '@runwire/server/src/storage/disk/disk-blob-store.ts';
import { insertIntegration, insertOwner } from '@runwire/server/src/store/queries/accounts.ts';
import type { Store } from '@runwire/server/src/store/store.ts';
import { createLogger } from '@runwire/server/src/telemetry/logger.ts';
import { temporaryFolder } from '@runwire/server/testing';
import { documentReader } from './read-document.ts';
import { embeddedStore, migratedDatabase, postgresStore, type StoreName } from './test-store.ts';

const INTEGRATIONS = ['one', 'other'];
const MAX_DOCUMENT_BYTES = 20 * 1024 * 1024;

export interface TestFilesOptions {
  readonly store?: StoreName;
  /** Replaces the reader of documents. */
  readonly reader?: Pick<DocumentReader, 'read'>;
  readonly maxDocumentBytes?: number;
}

/** Files of two integrations, `one` and `other`, on a store and a disk, without a server. */
export class TestFiles implements AsyncDisposable {
  readonly store: Store;
  readonly blobs: BlobStore;
  readonly files: Files;
  readonly #documents: () => DocumentTexts;
  readonly #ofThisNode: DocumentTexts;
  readonly #stack: AsyncDisposableStack;

  private constructor(
    parts: Pick<TestFiles, 'store' | 'blobs' | 'files'>,
    documents: () => DocumentTexts,
    stack: AsyncDisposableStack,
  ) {
    ({ store: this.store, blobs: this.blobs, files: this.files } = parts);
    this.#documents = documents;
    this.#ofThisNode = documents();
    this.#stack = stack;
  }

  static async open(options: TestFilesOptions = {}): Promise<TestFiles> {
    await using opening = new AsyncDisposableStack();
    const folder = temporaryFolder();
    opening.defer(() => rmSync(folder, { recursive: true, force: true }));
    const store =
      options.store === 'postgres'
        ? opening.use(await postgresStore(opening.use(await migratedDatabase()).url))
        : opening.use(await embeddedStore(folder));
    await store.transact('account', async (tx) => {
      await tx.run(insertOwner, { ownerId: 'own', email: null, nameJson: null, administrator: 1, now: 1 });
      for (const integrationId of INTEGRATIONS) await tx.run(insertIntegration, { ...FIELDS, integrationId });
    });
    const logger = createLogger('silent');
    const ids = new ErasedIds('secret');
    const blobs = await DiskBlobStore.open(join(folder, 'blobs'));
    const files = new Files({ store, blobs, ids, settleUploads: async () => {}, logger });
    const parts = {
      files,
      texts: new FileTexts(store, blobs),
      reader: options.reader ?? opening.use(documentReader()),
      budget: new FairBudget(MAX_DOCUMENT_BYTES, () => false),
      maxBytes: options.maxDocumentBytes ?? MAX_DOCUMENT_BYTES,
      logger,
    };
    const documents = () => new DocumentTexts(parts);
    return new TestFiles({ store, blobs, files }, documents, opening.move());
  }

  /** `path` begins with `/app/mnt/`. */
  async put(
    integrationId: string,
    path: string,
    bytes: string | Uint8Array,
    contentType = 'text/plain',
  ): Promise<void> {
    const checked = checkFilePath(path);
    if ('problem' in checked) throw new Error(`${path} ${checked.problem}.`);
    const pieces = async function* () {
      yield Buffer.from(bytes as string);
    };
    await this.files.upload(integrationId, { path: checked.below, contentType, signedAt: Date.now() }, pieces());
  }

  /** The files as the tools of a run with `fileAccess: "all"` see them. */
  seenBy(integrationId: string): AgentFiles {
    return this.#seenBy(integrationId, this.#ofThisNode);
  }

  /** The same on a node that shares nothing but the store and the disk. */
  seenByAnotherNode(integrationId: string): AgentFiles {
    return this.#seenBy(integrationId, this.#documents());
  }

  #seenBy(integrationId: string, documents: DocumentTexts): AgentFiles {
    const scope = { access: 'all', memberFolder: null } as const;
    const run = { integrationId, ownerId: 'own', chatKey: '', files: scope };
    return runFiles({ files: this.files, documents }, run);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#stack.disposeAsync();
  }
}

const FIELDS = { ...INTEGRATION_DEFAULTS, sortKey: '1', ownerId: 'own', now: 1 };
