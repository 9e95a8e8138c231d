import { hash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { FileServer, type ModelCall, type ShownAttachment, scriptedModel } from '@runwire/test-kit';
import { ScriptedServer } from './scripted-server.ts';

type Options = NonNullable<Parameters<typeof ScriptedServer.start>[0]>;

/** A server that may fetch from a file server on this machine, and a model that the test controls. */
export class AttachmentRig implements AsyncDisposable {
  readonly files: FileServer;
  readonly rig: ScriptedServer;
  readonly #trust: Disposable;

  private constructor(files: FileServer, rig: ScriptedServer, trust: Disposable) {
    this.files = files;
    this.rig = rig;
    this.#trust = trust;
  }

  static async start(options: Options = {}, model: { readonly takesPdf?: boolean } = {}): Promise<AttachmentRig> {
    const files = await FileServer.start();
    const trust = files.trustHere();
    const rig = await ScriptedServer.start({
      getModel: (port) => scriptedModel(port, model),
      ...options,
      env: { ...files.env, ...options.env },
    });
    return new AttachmentRig(files, rig, trust);
  }

  get api() {
    return this.rig.api;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.rig[Symbol.asyncDispose]();
    this.#trust[Symbol.dispose]();
    await this.files[Symbol.asyncDispose]();
  }
}

export const fileAt = (file_url: string, more: object = {}) => ({ type: 'input_file', file_url, ...more });
export const imageAt = (image_url: string, more: object = {}) => ({ type: 'input_image', image_url, ...more });

/** Returns the attachments of each user turn that the model receives. */
export const attachmentsShown = (call: ModelCall): ShownAttachment[][] =>
  call.request.prompt.flatMap((item) =>
    item.kind === 'user' ? [(item.attachments ?? []) as unknown as ShownAttachment[]] : [],
  );

/** Returns the files below `blobs/`. */
export const blobsIn = (dataDir: string): string[] =>
  (readdirSync(join(dataDir, 'blobs'), { recursive: true }) as string[]).filter((path) => /^[0-9a-f]{2}\/./.test(path));

/** The hashes of these files, and the hashes in their names, sorted. */
export const hashesIn = (dataDir: string) =>
  blobsIn(dataDir)
    .map((path) => path.slice(3, 67))
    .sort();
export const computeHashes = (...all: readonly (Buffer | string)[]) => all.map((bytes) => hash('sha256', bytes)).sort();
