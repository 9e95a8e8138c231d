import { newId } from '../domain/ids.ts';
import type { MountPath } from '../domain/mount-path.ts';
import { Refusal } from '../domain/refusal.ts';
import { integrationById } from '../store/queries/accounts.ts';
import { lockIntegrationForSigning } from '../store/queries/locks.ts';
import { formInTheWay, insertForm, promisedBytes } from '../store/queries/upload-forms.ts';
import { first, type Store, type Tx } from '../store/store.ts';
import { MountConflict, type MountStore } from './mount-store.ts';
import { type MeasuredMount, MountUsage } from './mount-usage.ts';
import { FORM_MS } from './post-policy/check-form.ts';
import { signForm } from './post-policy/sign-form.ts';
import { foreseenBytes } from './quota.ts';
import type { UploadTarget } from './upload-target.ts';

/**
 * A measurement counts too much if another request signs a form for an existing file. It is repeated for such paths.
 */
const MAX_MEASUREMENTS = 8;

export interface UploadRequest {
  readonly integrationId: string;
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
  readonly mount: Pick<MountStore, 'checkFree' | 'walk'>;
  readonly target: UploadTarget;
  /** 0 if there is no quota. */
  readonly quotaBytes: number;
  /** How long an upload in progress may continue after its form expired. */
  readonly graceMs: number;
}

interface TooMuch {
  readonly foreseen: number;
  readonly unmeasured: readonly MountPath[];
}

/** Signs forms for uploads. Each form is stored with its size before the caller gets it. */
export class UploadSigning {
  readonly #deps: UploadSigningDeps;
  readonly #usage: MountUsage;

  constructor(deps: UploadSigningDeps) {
    this.#deps = deps;
    this.#usage = new MountUsage(deps.mount, deps.store.reads, deps.graceMs);
  }

  async sign(request: UploadRequest): Promise<SignedUpload> {
    const { integrationId, path, contentType, sizeBytes, base } = request;
    const { mount, target } = this.#deps;
    // Taken before the key is read: if the key is retired in between, the form counts as signed before.
    const signedAt = Date.now();
    const expiresAt = signedAt + FORM_MS;
    try {
      await mount.checkFree(integrationId, path);
    } catch (error) {
      if (error instanceof MountConflict) throw new Refusal('file_exists_as_folder', error.message);
      throw error;
    }
    const key = await target.signingKey();
    await this.#note(request, signedAt, expiresAt);
    const terms = {
      bucket: target.bucket(integrationId),
      key: target.key(integrationId, path),
      contentType,
      sizeBytes,
      signedAt,
      expiresAt,
    };
    return { uploadUrl: target.url(integrationId, base), uploadFields: signForm(terms, key) };
  }

  async #note(request: UploadRequest, signedAt: number, expiresAt: number): Promise<void> {
    const { integrationId, path } = request;
    const { store, quotaBytes, graceMs } = this.#deps;
    const note = (measured: MeasuredMount | null) =>
      store.transact('account', async (tx) => {
        await tx.all(lockIntegrationForSigning, { integrationId });
        if ((await first(tx.all(integrationById, { integrationId }))) === undefined) {
          throw new Refusal('integration_not_found');
        }
        await refuseInTheWay(tx, integrationId, path, signedAt - graceMs);
        const tooMuch = measured === null ? null : await this.#tooMuch(tx, request, measured);
        if (tooMuch !== null) return tooMuch;
        const formId = newId('form');
        await tx.run(insertForm, { integrationId, formId, path, sizeBytes: request.sizeBytes, signedAt, expiresAt });
        return null;
      });
    if (quotaBytes === 0) {
      await note(null);
      return;
    }
    let measured = this.#usage.recent(integrationId) ?? (await this.#usage.measure(integrationId, [path]));
    for (let measurements = 1; ; measurements += 1) {
      const tooMuch = await note(measured);
      if (tooMuch === null) return;
      // A file that was deleted or stored before this request does not count against it.
      const isSure = measured.beganAt >= signedAt && tooMuch.unmeasured.length === 0;
      if (isSure || measurements === MAX_MEASUREMENTS) throw this.#exceeded(measured, tooMuch, request.sizeBytes);
      measured = await this.#usage.measure(integrationId, [path, ...tooMuch.unmeasured]);
    }
  }

  /** Resolves to null if this form and all earlier ones fit. */
  async #tooMuch(tx: Tx, request: UploadRequest, measured: MeasuredMount): Promise<TooMuch | null> {
    const { integrationId, path, sizeBytes } = request;
    const rows = await tx.all(promisedBytes, { integrationId, since: measured.countsFrom });
    const promised = rows.map((row) => ({ path: row.path, sizeBytes: row.size_bytes }));
    const { bytes, unmeasured } = foreseenBytes(measured, [...promised, { path, sizeBytes }]);
    return bytes > this.#deps.quotaBytes ? { foreseen: bytes, unmeasured } : null;
  }

  #exceeded(measured: MeasuredMount, { foreseen }: TooMuch, sizeBytes: number): Refusal {
    const { quotaBytes } = this.#deps;
    return new Refusal(
      'mount_quota_exceeded',
      `The files of this integration use ${measured.bytes} bytes. With this form of ${sizeBytes} and the other open forms they ` +
        `could use ${foreseen}, and the quota is ${quotaBytes}; delete files, or wait until unused forms have expired.`,
      { usedBytes: measured.bytes, foreseenBytes: foreseen, quotaBytes },
    );
  }
}

/** The two files could not both exist, so the second request is refused now and not when the bytes are sent. */
async function refuseInTheWay(tx: Tx, integrationId: string, path: MountPath, since: number): Promise<void> {
  const other = await first(tx.query(formInTheWay(integrationId, path, since)));
  if (other === undefined) return;
  throw new Refusal(
    'file_exists_as_folder',
    'Another open form uses this path as a folder, or a folder of this path as a file; choose another name, or wait ' +
      'until that form has expired.',
  );
}
