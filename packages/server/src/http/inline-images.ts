import type { GetCompletionV2Request } from '@runwire/contract';
import { Refusal } from '../domain/refusal.ts';
import type { GivenAttachment } from '../files/given-attachments.ts';
import { isDataUrl } from '../lib/inline-image.ts';
import type { TakenOut } from '../lib/take-out-images.ts';

/** The images that came inside a request's body, held until they are stored or the request is over. */
export class InlineImages {
  #taken: ReadonlyMap<string, TakenOut[number][1]>;
  #onRelease: (bytes: number) => void;
  readonly #bytes: number;

  constructor(taken: TakenOut, onRelease: (bytes: number) => void) {
    this.#taken = new Map(taken);
    this.#onRelease = onRelease;
    this.#bytes = taken.reduce((sum, [, image]) => sum + ('bytes' in image ? image.bytes.length : 0), 0);
  }

  get heldBytes(): number {
    return this.#bytes;
  }

  get(standIn: string): TakenOut[number][1] | undefined {
    return this.#taken.get(standIn);
  }

  /** "After admission nothing keeps the body alive." Twice is once. */
  release(): void {
    this.#taken = new Map();
    this.#onRelease(this.#bytes);
    this.#onRelease = () => {};
  }
}

/** The attachments of a checked body. Throws a `Refusal` that names the field. */
export function givenAttachments(
  attachments: GetCompletionV2Request['attachments'],
  inline: InlineImages | null,
): GivenAttachment[] {
  return (attachments ?? []).map((attachment, position) => {
    const field = attachment.type === 'input_file' ? 'file_url' : 'image_url';
    const name = `\`attachments[${position}].${field}\``;
    const refused = (problem: string) => new Refusal('invalid_request', `${name} ${problem}.`);
    if (attachment.type === 'input_file') {
      throw refused(
        isDataUrl(attachment.file_url)
          ? 'must be an https URL, not a data URL'
          : 'is not supported by this version; leave it out',
      );
    }
    if (!isDataUrl(attachment.image_url)) {
      throw refused('that is no data URL is not supported by this version; leave it out');
    }
    const image = inline?.get(attachment.image_url);
    // Every data URL was taken out where the body was parsed.
    if (image === undefined) throw new Error('An inline image is not where its body was parsed.');
    if ('problem' in image) throw refused(image.problem);
    return { ...image, detail: attachment.detail ?? 'auto' };
  });
}
