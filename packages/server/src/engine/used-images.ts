import type { OutputImages } from '../agent/output-images.ts';
import { RunImages } from '../attachments/run-images.ts';
import type { GivenImage, StoredImages, ToolImage } from '../domain/run/tool-image.ts';
import { type BlobUser, toAttachmentRun } from './used-attachments.ts';

/** The images that a run's tools return. Most runs have none, and then it makes nothing. */
export class UsedImages implements OutputImages {
  readonly #user: BlobUser;
  #used: RunImages | null = null;

  constructor(user: BlobUser) {
    this.#user = user;
  }

  /** True if a prompt of the run has images of tools, or will have them. */
  get isUsed(): boolean {
    return this.#used !== null;
  }

  store(images: readonly GivenImage[]): Promise<StoredImages> {
    return this.#use().store(images);
  }

  adopt(images: readonly ToolImage[]): Promise<StoredImages> {
    return this.#use().adopt(images);
  }

  show(images: readonly ToolImage[]): ReturnType<OutputImages['show']> {
    return this.#use().show(images);
  }

  #use(): RunImages {
    this.#used ??= new RunImages(this.#user.deps, toAttachmentRun(this.#user));
    return this.#used;
  }
}
