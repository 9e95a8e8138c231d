import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { DocumentReader } from '@runwire/documents';
import { FairBudget } from '@runwire/lib/fair-budget.ts';
import { INTEGRATION_DEFAULTS } from '@runwire/server/src/accounts/integrations.ts';
import type { AgentFiles } from '@runwire/server/src/agent/files-port.ts';
import { ErasedIds } from '@runwire/server/src/domain/account/erased-ids.ts';
import {
  checkAnyFolderPath,
  checkFilePath,
  MOUNT,
  type MountPath,
} from '@runwire/server/src/domain/file/mount-path.ts';
import { newId, newIntegrationId } from '@runwire/server/src/domain/ids.ts';
import { FileTexts } from '@runwire/server/src/files/file-texts.ts';
import { Files } from '@runwire/server/src/files/files.ts';
import { PendingBlobs } from '@runwire/server/src/files/pending-blobs.ts';
import type { BlobStore } from '@runwire/server/src/storage/blob-store.ts';
import { DiskBlobStore } from '@runwire/server/src/storage/disk/disk-blob-store.ts';
import { insertIntegration, insertOwner } from '@runwire/server/src/store/queries/accounts.ts';
import { storedPath } from '@runwire/server/src/store/queries/files.ts';
import { insertForm } from '@runwire/server/src/store/queries/upload-forms.ts';
import type { Store } from '@runwire/server/src/store/store.ts';
import { ThisNode } from '@runwire/server/src/store/this-node.ts';
import { createLogger } from '@runwire/server/src/telemetry/logger.ts';
import { uncachedOutbox } from '@runwire/server/src/webhooks/event-outbox.ts';
import { DocumentTexts } from '@runwire/server/src/workspace/document-texts.ts';
import { runFiles } from '@runwire/server/src/workspace/run-files.ts';
import { temporaryFolder } from '@runwire/server/testing';
import { documentReader } from './read-document.ts';
import { testChatKey, testOwnerId } from './test-ids.ts';
import { embeddedStore, migratedDatabase, postgresStore, type StoreName } from './test-store.ts';

export { storedPath };

const INTEGRATIONS = ['one', 'other'].map((name) => newIntegrationId(name));
const MAX_DOCUMENT_BYTES = 20 * 1024 * 1024;

export interface TestFilesOptions {
  readonly store?: StoreName;
  /** Replaces the reader of documents. */
  readonly reader?: Pick<DocumentReader, 'read'>;
  readonly maxDocumentBytes?: number;
}

/** The path below the mount, checked. The mount itself is the empty text. */
export function pathInMount(below: string): MountPath {
  const checked = checkAnyFolderPath(below === '' ? MOUNT : `${MOUNT}/${below}`);
  if ('problem' in checked) throw new Error(`${below} ${checked.problem}`);
  return checked.below;
}

/** Stores an upload form, as a signing does. */
export async function insertTestForm(store: Store, integration: string, path: MountPath, signedAt = Date.now()) {
  const expiresAt = signedAt + 900_000;
  const form = {
    integration_id: newIntegrationId(integration),
    form_id: newId('form'),
    path: storedPath(path),
    content_type: 'text/plain',
    size_bytes: 0,
    signed_at: signedAt,
    expires_at: expiresAt,
    to_s3: 0,
  };
  await store.transact('account', (tx) => tx.run(insertForm, form));
  return { path, signedAt, expiresAt };
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
      await tx.run(insertOwner, {
        owner_id: testOwnerId('own'),
        email: null,
        name_json: null,
        administrator: 1,
        created_at: 1,
      });
      for (const integrationId of INTEGRATIONS)
        await tx.run(insertIntegration, { ...FIELDS, integration_id: integrationId });
    });
    const logger = createLogger('silent');
    const ids = new ErasedIds('secret');
    const blobs = await DiskBlobStore.open(join(folder, 'blobs'));
    const pending = new PendingBlobs({ store, blobs, ids, node: new ThisNode(), logger });
    const files = new Files({ store, blobs, pending, settleUploads: async () => {}, outbox: uncachedOutbox(), logger });
    const parts = {
      files,
      texts: new FileTexts(store, blobs, pending),
      reader: options.reader ?? opening.use(documentReader()),
      budget: new FairBudget(MAX_DOCUMENT_BYTES, () => false),
      maxBytes: options.maxDocumentBytes ?? MAX_DOCUMENT_BYTES,
      logger,
    };
    const documents = () => new DocumentTexts(parts);
    return new TestFiles({ store, blobs, files }, documents, opening.move());
  }

  /** `path` begins with `/app/mnt/`. */
  async put(integration: string, path: string, bytes: string | Uint8Array, contentType = 'text/plain'): Promise<void> {
    const checked = checkFilePath(path);
    if ('problem' in checked) throw new Error(`${path} ${checked.problem}.`);
    const pieces = async function* () {
      yield Buffer.from(bytes as string);
    };
    const form = await insertTestForm(this.store, integration, checked.below);
    await this.files.upload(newIntegrationId(integration), { ...form, contentType }, pieces());
  }

  /** The files as a run's tools with `fileAccess: "all"` see them. */
  seenBy(integration: string): AgentFiles {
    return this.#seenBy(integration, this.#ofThisNode);
  }

  /** The same on a node that shares nothing but the store and the disk. */
  seenByAnotherNode(integration: string): AgentFiles {
    return this.#seenBy(integration, this.#documents());
  }

  #seenBy(integration: string, documents: DocumentTexts): AgentFiles {
    const scope = { access: 'all', memberFolder: null } as const;
    const run = {
      integrationId: newIntegrationId(integration),
      ownerId: testOwnerId('own'),
      chatKey: testChatKey(''),
      files: scope,
    };
    return runFiles({ files: this.files, documents }, run);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#stack.disposeAsync();
  }
}

const FIELDS = { ...INTEGRATION_DEFAULTS, sort_key: '1', owner_id: testOwnerId('own'), created_at: 1 };
