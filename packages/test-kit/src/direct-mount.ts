import type { MountPath } from '@runwire/server/src/domain/mount-path.ts';
import type { MountFile, MountStore } from '@runwire/server/src/files/mount-store.ts';
import { FORM_MS } from '@runwire/server/src/files/post-policy/check-form.ts';
import { signForm } from '@runwire/server/src/files/post-policy/sign-form.ts';
import type { UploadTarget } from '@runwire/server/src/files/upload-target.ts';

/** A mount whose files come as callers send them where forms go to S3 itself: each is signed for, and posted there. */
export class DirectMount implements MountStore {
  readonly kind;
  readonly #mount: MountStore;
  readonly #target: UploadTarget;

  constructor(mount: MountStore, target: UploadTarget) {
    this.kind = mount.kind;
    this.#mount = mount;
    this.#target = target;
  }

  async write(
    integrationId: string,
    path: MountPath,
    contentType: string,
    bytes: AsyncIterable<Uint8Array>,
  ): Promise<MountFile> {
    const mount = this.#mount;
    // Ceph takes spaces off the end of a form's fields, and then refuses the key (docs/s3.md).
    if (path.endsWith(' ')) return await mount.write(integrationId, path, contentType, bytes);
    await mount.checkFree(integrationId, path);
    const body = Buffer.concat(await Array.fromAsync(bytes));
    await mount.checkFree(integrationId, path);
    const target = this.#target;
    const signedAt = Date.now();
    const terms = { contentType, sizeBytes: body.length, signedAt, expiresAt: signedAt + FORM_MS };
    const place = { bucket: target.bucket(integrationId), key: target.key(integrationId, path) };
    const form = new FormData();
    const fields = signForm({ ...terms, ...place }, await target.signingKey());
    for (const [name, value] of Object.entries(fields)) form.append(name, value);
    form.append('file', new Blob([body]), 'file');
    const answer = await fetch(target.url(integrationId, ''), { method: 'POST', body: form });
    if (answer.status !== 204) throw new Error(`S3 answered a form with ${answer.status}: ${await answer.text()}`);
    const found = await mount.find(integrationId, path);
    const etag = answer.headers.get('etag') ?? found?.etag ?? '';
    const written = { kind: 'file', path, size: body.length, etag, contentType, modifiedAt: signedAt } as const;
    return found?.etag === etag ? found : written;
  }

  find: MountStore['find'] = (...args) => this.#mount.find(...args);
  list: MountStore['list'] = (...args) => this.#mount.list(...args);
  walk: MountStore['walk'] = (...args) => this.#mount.walk(...args);
  open: MountStore['open'] = (...args) => this.#mount.open(...args);
  checkFree: MountStore['checkFree'] = (...args) => this.#mount.checkFree(...args);
  delete: MountStore['delete'] = (...args) => this.#mount.delete(...args);
  deleteFolder: MountStore['deleteFolder'] = (...args) => this.#mount.deleteFolder(...args);
  sweep: MountStore['sweep'] = (...args) => this.#mount.sweep(...args);
}
