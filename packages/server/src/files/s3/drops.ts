import { Refusal } from '../../domain/refusal.ts';
import type { S3BlobStore } from '../../storage/s3/s3-blob-store.ts';
import type { S3Bucket, S3Object } from '../../storage/s3/s3-bucket.ts';
import { fileAt, mountPath } from '../../store/queries/files.ts';
import { lockIntegrationForFiles } from '../../store/queries/locks.ts';
import { formById, formsOf } from '../../store/queries/upload-forms.ts';
import { first, type Reads, type Store } from '../../store/store.ts';
import type { Logger } from '../../telemetry/logger.ts';
import { changeFiles, OPEN_FORM_MS, PathTaken } from '../change-files.ts';

export interface DropsDeps {
  readonly store: Store;
  readonly bucket: S3Bucket;
  readonly blobs: S3BlobStore;
  /** The keys of drops begin with it. It ends with `/`. */
  readonly prefix: string;
  readonly logger: Logger;
}

type Form = Awaited<ReturnType<ReturnType<(typeof formsOf)['build']>['execute']>>[number];

interface Pass {
  readonly done: Promise<void>;
  next: Promise<void> | null;
}

/** The path of a form that an erasure closed. */
const CLOSED = '';

export const dropKey = (prefix: string, integrationId: string, formId: string) => `${prefix}${integrationId}/${formId}`;

/**
 * Uploads that S3 received itself. Each waits under the id of its form until it is settled: copied to a new blob, published
 * as a file, and deleted. Nodes may settle the same drop concurrently: one publishes it, the others find it published.
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
  settle = (integrationId: string): Promise<void> => {
    const current = this.#passes.get(integrationId);
    if (current === undefined) return this.#start(integrationId);
    current.next ??= current.done.then(
      () => this.#start(integrationId),
      () => this.#start(integrationId),
    );
    return current.next;
  };

  #start(integrationId: string): Promise<void> {
    const done = this.#settleAll(integrationId).finally(() => this.#passes.delete(integrationId));
    this.#passes.set(integrationId, { done, next: null });
    return done;
  }

  async #settleAll(integrationId: string): Promise<void> {
    const { store, bucket, prefix } = this.#deps;
    const forms = await store.reads.all(formsOf, { integrationId });
    if (forms.length === 0) return;
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
    for (const { form, drop } of found) await this.#settle(integrationId, form, drop);
  }

  async #settle(integrationId: string, form: Form, drop: S3Object): Promise<void> {
    const { store, bucket, blobs, logger } = this.#deps;
    if (form.path !== CLOSED && (await isNews(store.reads, integrationId, form, drop))) {
      const blobKey = await blobs.adopt(drop);
      // It was replaced or deleted since it was listed. The next operation settles the new one.
      if (blobKey === null) return;
      let isPublished = false;
      try {
        isPublished = await this.#publish(integrationId, form, drop, blobKey);
      } catch (error) {
        if (!(error instanceof PathTaken) && !(error instanceof Refusal)) throw error;
        logger.warn({ integrationId, formId: form.form_id, err: error }, 'an upload was dropped: its path is taken');
      }
      if (!isPublished) await blobs.delete(blobKey);
    }
    await bucket.delete(drop.key);
  }

  #publish(integrationId: string, form: Form, drop: S3Object, blobKey: string): Promise<boolean> {
    const { size, etag, modifiedAt } = drop;
    const put = { kind: 'put', path: mountPath(form.path), blobKey, size, etag, modifiedAt, chatKey: null } as const;
    return this.#deps.store.transact('files', async (tx) => {
      await tx.all(lockIntegrationForFiles, { integrationId });
      // An erasure may have closed the form since it was read.
      if ((await first(tx.all(formById, { integrationId, formId: form.form_id })))?.path !== form.path) return false;
      if (!(await isNews(tx, integrationId, form, drop))) return false;
      const change = { ...put, contentType: form.content_type, signedAt: form.signed_at };
      await changeFiles(tx, integrationId, [change], Date.now());
      return true;
    });
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

/** The later upload of a path counts; of two in the same second, the one whose form was signed later. */
async function isNews(reads: Reads, integrationId: string, form: Form, drop: S3Object): Promise<boolean> {
  const file = await first(reads.all(fileAt, { integrationId, path: form.path }));
  if (file === undefined) return true;
  if (drop.modifiedAt !== file.modified_at) return drop.modifiedAt > file.modified_at;
  const signedAt = file.signed_at ?? 0;
  return form.signed_at > signedAt || (form.signed_at === signedAt && drop.etag !== file.etag);
}
