import type { IntegrationId } from '../../domain/ids.ts';
import { Refusal } from '../../domain/refusal.ts';
import { StoreUnavailable } from '../../domain/unavailable.ts';
import { MAX_UNREFERRED_MS, newFileBlobKey } from '../../storage/blob-store.ts';
import type { AdoptedBlob, S3BlobStore } from '../../storage/s3/s3-blob-store.ts';
import type { S3Bucket, S3Object } from '../../storage/s3/s3-bucket.ts';
import { type FileRow, fileAt, mountPath } from '../../store/queries/files.ts';
import { lockIntegrationForFiles } from '../../store/queries/locks.ts';
import { claimDrop, findSettledDrop, readForms } from '../../store/queries/upload-forms.ts';
import type { RowOf } from '../../store/statement.ts';
import { first, type Reads, type Store } from '../../store/store.ts';
import type { Logger } from '../../telemetry/logger.ts';
import type { EventOutbox } from '../../webhooks/event-outbox.ts';
import { changeFiles, OPEN_FORM_MS, PathTaken } from '../change-files.ts';
import { FormClosed } from '../closed-folders.ts';
import { BlobGone, claimBlobs, type PendingBatch, type PendingBlobs } from '../pending-blobs.ts';
import { recordUpload } from '../record-upload.ts';

export interface DropsDeps {
  readonly store: Store;
  readonly bucket: S3Bucket;
  readonly blobs: S3BlobStore;
  readonly pending: PendingBlobs;
  /** The keys of drops begin with it. It ends with `/`. */
  readonly prefix: string;
  readonly outbox: EventOutbox;
  readonly logger: Logger;
}

type Form = RowOf<typeof readForms>;

interface Pass {
  readonly done: Promise<void>;
  next: Promise<void> | null;
}

/**
 * `not needed`: the file is newer, its path is taken, or another node settled the drop. `changed`: the form changed, or the copy
 * is too old.
 */
type Outcome = 'published' | 'not needed' | 'changed';

/** The path of a form that an erasure closed. */
const CLOSED = '';
/** How many passes an operation makes while other nodes and callers change the same drops. */
const MAX_TRIES = 10;

export const dropKey = (prefix: string, integrationId: IntegrationId, formId: string) =>
  `${prefix}${integrationId}/${formId}`;

/**
 * Uploads that S3 received itself. Each waits under its form's id until it is settled: copied to a new blob, published
 * as a file, and deleted. The row of the form records the drop that was settled last. Nodes may settle the same drop
 * concurrently: the transaction of one changes that row and publishes the file, and the others find the row changed.
 */
export class Drops {
  readonly #deps: DropsDeps;
  readonly #passes = new Map<string, Pass>();

  constructor(deps: DropsDeps) {
    this.#deps = deps;
  }

  /**
   * Settles all drops of an integration that are in the bucket when this is called. Calls during a pass share the next
   * pass, because the current one may have listed too early.
   */
  settle = (integrationId: IntegrationId): Promise<void> => {
    const current = this.#passes.get(integrationId);
    if (current === undefined) return this.#start(integrationId);
    current.next ??= current.done.then(
      () => this.#start(integrationId),
      () => this.#start(integrationId),
    );
    return current.next;
  };

  #start(integrationId: IntegrationId): Promise<void> {
    const done = this.#settleAll(integrationId).finally(() => this.#passes.delete(integrationId));
    this.#passes.set(integrationId, { done, next: null });
    return done;
  }

  async #settleAll(integrationId: IntegrationId): Promise<void> {
    for (let tries = 1; !(await this.#pass(integrationId)); tries += 1) {
      if (tries === MAX_TRIES) throw new StoreUnavailable('The uploads of an integration changed too often.');
    }
  }

  /** Resolves to false if a form or a drop changed during the pass, so that another pass is needed. */
  async #pass(integrationId: IntegrationId): Promise<boolean> {
    const { store, bucket, prefix } = this.#deps;
    // Read before the listing: so a listed drop is later than the drop that its form has recorded.
    const forms = await store.reads.all(readForms, { integrationId });
    if (forms.length === 0) return true;
    const formsById = new Map(forms.map((form) => [form.form_id, form]));
    const folder = `${prefix}${integrationId}/`;
    const found: { form: Form; drop: S3Object }[] = [];
    for await (const page of bucket.pages(folder)) {
      for (const drop of page) {
        const form = formsById.get(drop.key.slice(folder.length));
        if (form !== undefined && drop.modifiedAt <= form.signed_at + OPEN_FORM_MS) found.push({ form, drop });
      }
    }
    found.sort((a, b) => a.drop.modifiedAt - b.drop.modifiedAt || a.form.signed_at - b.form.signed_at);
    let isComplete = true;
    for (const { form, drop } of found) isComplete = (await this.#settle(integrationId, form, drop)) && isComplete;
    return isComplete;
  }

  /** Resolves to false if the form or the drop changed since it was read. */
  async #settle(integrationId: IntegrationId, form: Form, drop: S3Object): Promise<boolean> {
    const { store, bucket } = this.#deps;
    if (form.path !== CLOSED && form.settled_drop !== getVersion(drop)) {
      const outcome = await this.#copy(integrationId, form, drop);
      if (outcome === 'changed') return isSettled(store.reads, integrationId, form, drop);
    }
    await bucket.delete(drop.key);
    return true;
  }

  /** Copies the drop to a new blob and publishes it. */
  async #copy(integrationId: IntegrationId, form: Form, drop: S3Object): Promise<Outcome> {
    const { blobs, pending } = this.#deps;
    const blobKey = newFileBlobKey();
    const file = { integrationId, path: form.path, formId: form.form_id };
    const owner = { integrationId, consumerId: null, path: mountPath(form.path) };
    let batch: PendingBatch;
    try {
      batch = await pending.begin([blobKey], owner, async (tx) => {
        await tx.all(lockIntegrationForFiles, { integrationId });
        if ((await tx.all(findSettledDrop, file)).length === 0) throw new FormClosed();
      });
    } catch (error) {
      if (error instanceof FormClosed) return 'changed';
      throw error;
    }
    let outcome: Outcome = 'changed';
    try {
      const copiedAt = Date.now();
      const blob = await blobs.adopt(drop, blobKey);
      if (blob !== null) outcome = await this.#publish(integrationId, form, drop, { ...blob, copiedAt, batch });
    } finally {
      if (outcome !== 'published') await pending.abandon(batch);
    }
    return outcome;
  }

  async #publish(
    integrationId: IntegrationId,
    form: Form,
    drop: S3Object,
    { blobKey, md5, copiedAt, batch }: AdoptedBlob & { readonly copiedAt: number; readonly batch: PendingBatch },
  ): Promise<Outcome> {
    const { store, outbox, logger } = this.#deps;
    const { form_id: formId, path, version, signed_at: signedAt, content_type: contentType } = form;
    const { size, modifiedAt } = drop;
    const times = { modifiedAt, signedAt };
    const file = { path: mountPath(path), blobKey, size, etag: `"${md5}"`, contentType, ...times, chatKey: null };
    try {
      return await store.transact('files', async (tx) => {
        await tx.all(lockIntegrationForFiles, { integrationId });
        if (Date.now() - copiedAt > MAX_UNREFERRED_MS) return 'changed';
        const claim = { integrationId, path, formId, version, drop: getVersion(drop) };
        if ((await tx.run(claimDrop, claim)) === 0) {
          return (await isSettled(tx, integrationId, form, drop)) ? 'not needed' : 'changed';
        }
        if (!isLater(form, drop, await first(tx.all(fileAt, { integrationId, path })))) return 'not needed';
        await claimBlobs(tx, batch);
        await changeFiles(tx, integrationId, [{ kind: 'put', ...file }], Date.now());
        await recordUpload(tx, outbox, integrationId, file);
        return 'published';
      });
    } catch (error) {
      if (error instanceof BlobGone) return 'changed';
      if (!(error instanceof PathTaken) && !(error instanceof Refusal)) throw error;
      logger.warn({ integrationId, formId, err: error }, 'an upload was dropped: its path is taken');
      return 'not needed';
    }
  }

  /**
   * Deletes drops of before `until`, which is long enough ago that their forms are closed: they arrived too late. Resolves
   * to their number.
   */
  async sweep(until: number): Promise<number> {
    const { bucket, prefix } = this.#deps;
    let count = 0;
    for await (const page of bucket.pages(prefix)) {
      for (const { key, modifiedAt } of page) {
        if (modifiedAt > until) continue;
        await bucket.delete(key);
        count += 1;
      }
    }
    return count + (await bucket.dropUnfinished(prefix, until));
  }
}

/** Tells this drop from others that S3 received for the same form. */
const getVersion = ({ modifiedAt, etag }: S3Object) => `${modifiedAt} ${etag}`;

/** True if another node has settled this drop since the form was read. */
async function isSettled(reads: Reads, integrationId: IntegrationId, form: Form, drop: S3Object): Promise<boolean> {
  const now = await first(reads.all(findSettledDrop, { integrationId, path: form.path, formId: form.form_id }));
  return now?.settled_drop === getVersion(drop);
}

/**
 * The later upload of a path counts; of two in the same second, the one whose form was signed later. S3 tells times in
 * seconds, and the time of a file that this server received has milliseconds.
 */
function isLater(form: Form, drop: S3Object, file: Pick<FileRow, 'modified_at' | 'signed_at'> | undefined): boolean {
  if (file === undefined) return true;
  const second = Math.floor(file.modified_at / 1000) * 1000;
  return drop.modifiedAt === second ? form.signed_at >= (file.signed_at ?? 0) : drop.modifiedAt > second;
}
