import type { Hold } from '@runwire/lib/fair-budget.ts';
import type { InlineFile } from './inline-file.ts';
import { type InlineImage, NOT_AN_IMAGE, type NotDecoded } from './inline-image.ts';

/** Finds an inline image by the text of its field. */
export interface ImageSource {
  image(text: string): InlineImage | NotDecoded;
}

/** Finds an inline file by the text of its field. */
export interface FileSource {
  file(text: string): InlineFile | NotDecoded;
}

/** The removed texts, by their placeholders, with the bytes that they contain. */
export type ExtractedFiles = readonly (readonly [standIn: string, file: InlineFile | NotDecoded])[];

/** The files of a body without any. The body's parser has replaced every inline file's text, so nothing else is asked for. */
export const NO_FILES: ImageSource & FileSource = { image: missing, file: missing };

function missing(): never {
  throw new Error('The parser of the body did not decode an inline file.');
}

/** A body's inline images and files, kept until they are stored or the request has ended. */
export class InlineFiles implements ImageSource, FileSource {
  #files: ReadonlyMap<string, InlineFile | NotDecoded>;
  readonly #hold: Hold | null;

  /** Takes over the hold of the body that contained the files, and shrinks it: decoded, they are smaller. Null if none is held. */
  constructor(files: ExtractedFiles, hold: Hold | null) {
    this.#files = new Map(files);
    this.#hold = hold;
    hold?.shrinkTo(files.reduce((sum, [, file]) => sum + ('bytes' in file ? file.bytes.length : 0), 0));
  }

  image(standIn: string): InlineImage | NotDecoded {
    const file = this.file(standIn);
    return 'problem' in file || file.isImage ? file : NOT_AN_IMAGE;
  }

  file(standIn: string): InlineFile | NotDecoded {
    return this.#files.get(standIn) ?? NO_FILES.file(standIn);
  }

  /** "After admission nothing keeps the body alive." Idempotent. */
  release(): void {
    this.#files = new Map();
    this.#hold?.[Symbol.dispose]();
  }
}
