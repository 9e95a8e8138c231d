import type { ErasedIds } from '../domain/account/erased-ids.ts';
import type { MountPath } from '../domain/file/mount-path.ts';
import type { IntegrationId } from '../domain/ids.ts';
import { newId } from '../domain/ids.ts';
import { Refusal } from '../domain/refusal.ts';
import type { FolderErasure } from '../store/queries/erasures.ts';
import { storedPath } from '../store/queries/files.ts';
import { insertForm } from '../store/queries/upload-forms.ts';
import type { Store } from '../store/store.ts';
import { checkFree, lockFiles, PathTaken } from './change-files.ts';
import { checkFolderOpen, readFolderErasures } from './closed-folders.ts';
import { FORM_MS } from './post-policy/check-form.ts';
import { signForm } from './post-policy/sign-form.ts';
import { checkQuotas, type FileQuotas } from './quotas.ts';
import type { UploadTarget } from './upload-target.ts';

export interface UploadRequest {
  readonly integrationId: IntegrationId;
  readonly path: MountPath;
  readonly contentType: string;
  readonly sizeBytes: number;
  /** Scheme, host and path under which the caller reaches this server. */
  readonly base: string;
}

export interface SignedUpload {
  readonly uploadUrl: string;
  readonly uploadFields: Record<string, string>;
}

export interface UploadSigningDeps {
  readonly store: Store;
  readonly ids: ErasedIds;
  readonly target: UploadTarget;
  /** Publishes the uploads of this integration that S3 has received. */
  readonly settleUploads: (integrationId: IntegrationId) => Promise<void>;
  readonly quotas: FileQuotas;
}

/** Signs forms for uploads. Each form is stored with its size before the caller gets it. */
export class UploadSigning {
  readonly #deps: UploadSigningDeps;

  constructor(deps: UploadSigningDeps) {
    this.#deps = deps;
  }

  async sign(request: UploadRequest): Promise<SignedUpload> {
    const { integrationId, path, contentType, sizeBytes, base } = request;
    const { store, ids, target, settleUploads } = this.#deps;
    const erasures = await readFolderErasures(store.reads, ids, request);
    // Taken before the key is read: if the key is retired in between, the form counts as signed before.
    const signedAt = Date.now();
    const expiresAt = signedAt + FORM_MS;
    await settleUploads(integrationId);
    const key = await target.signingKey();
    const formId = newId('form');
    await this.#store(
      request,
      { form_id: formId, signed_at: signedAt, expires_at: expiresAt, to_s3: Number(target.isS3) },
      erasures,
    );
    const terms = {
      bucket: target.bucket(integrationId),
      key: target.key(integrationId, path, formId),
      contentType,
      sizeBytes,
      signedAt,
      expiresAt,
    };
    return { uploadUrl: target.url(integrationId, base), uploadFields: signForm(terms, key) };
  }

  async #store(
    { integrationId, path, contentType, sizeBytes }: UploadRequest,
    form: { readonly form_id: string; readonly signed_at: number; readonly expires_at: number; readonly to_s3: number },
    erasures: readonly FolderErasure[],
  ): Promise<void> {
    const { store, ids, quotas } = this.#deps;
    try {
      await store.transact('account', async (tx) => {
        const integration = await lockFiles(tx, integrationId);
        await checkFolderOpen(tx, ids, { integrationId, path }, erasures);
        await checkFree(tx, integrationId, path, form.signed_at);
        await tx.run(insertForm, {
          ...form,
          integration_id: integrationId,
          path: storedPath(path),
          content_type: contentType,
          size_bytes: sizeBytes,
        });
        await checkQuotas(tx, quotas, integration, [path], form.signed_at);
      });
    } catch (error) {
      if (error instanceof PathTaken) throw new Refusal('file_exists_as_folder', error.message);
      throw error;
    }
  }
}
