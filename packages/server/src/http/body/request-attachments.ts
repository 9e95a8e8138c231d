import type { GetCompletionV2Request } from '@runwire/contract';
import { checkFetchUrl, type FetchAllow, urlKey } from '@runwire/guarded-fetch/url-rules';
import type { RequestAttachment } from '../../attachments/request-attachment.ts';
import { type ImageDetail, MAX_URL_CHARACTERS } from '../../domain/attachment/attachment.ts';
import { withoutFragment } from '../../domain/attachment/attachment-refresh.ts';
import { filenameProblem } from '../../domain/file/mount-path.ts';
import { Refusal } from '../../domain/refusal.ts';
import type { ImageSource } from './inline-files.ts';
import { isDataUrl } from './inline-image.ts';

type BodyAttachment = NonNullable<GetCompletionV2Request['attachments']>[number];

/** Checks the attachments of a body that matches its schema. Throws a `Refusal` that names the field. */
export function requestAttachments(
  attachments: readonly BodyAttachment[] | undefined,
  images: ImageSource,
  allow: FetchAllow,
  list = 'attachments',
): RequestAttachment[] {
  return (attachments ?? []).map((attachment, position) => {
    const refused = (field: string, problem: string) =>
      new Refusal('invalid_request', `\`${list}[${position}].${field}\` ${problem}.`);
    if (attachment.type === 'input_file') {
      const { file_url: text, filename = null } = attachment;
      if (isDataUrl(text)) throw refused('file_url', 'must be an https URL, not a data URL');
      return fileByUrl(text, filename, allow, refused);
    }
    const { image_url: text, detail = 'auto' } = attachment;
    if (!isDataUrl(text)) return imageByUrl(text, detail, allow, refused);
    const image = images.image(text);
    if ('problem' in image) throw refused('image_url', image.problem);
    const { sha256, bytes, mediaType } = image;
    return { kind: 'inline_image', sha256, bytes, mediaType, detail };
  });
}

/** Makes the refusal for an attachment's field. */
type Refuse = (field: 'file_url' | 'filename' | 'image_url', problem: string) => Refusal;

export function fileByUrl(text: string, filename: string | null, allow: FetchAllow, refuse: Refuse): RequestAttachment {
  const problem = filename === null ? null : filenameProblem(filename);
  if (problem !== null) throw refuse('filename', problem);
  const url = checkedUrl(text, allow, (what) => refuse('file_url', what));
  return { kind: 'input_file', ...url, filename, detail: 'auto' };
}

export function imageByUrl(text: string, detail: ImageDetail, allow: FetchAllow, refuse: Refuse): RequestAttachment {
  const url = checkedUrl(text, allow, (what) => refuse('image_url', what));
  return { kind: 'input_image', ...url, filename: null, detail };
}

function checkedUrl(
  text: string,
  allow: FetchAllow,
  refused: (problem: string) => Refusal,
): { readonly url: string; readonly urlKey: string } {
  const tooLong = `must be at most ${MAX_URL_CHARACTERS} characters`;
  if (text.length > MAX_URL_CHARACTERS) throw refused(tooLong);
  const checked = checkFetchUrl(text, allow);
  if ('problem' in checked) throw refused(checked.problem);
  const url = withoutFragment(checked.url);
  // Percent-encoding turns one character outside ASCII into up to nine.
  if (url.length > MAX_URL_CHARACTERS) throw refused(tooLong);
  return { url, urlKey: urlKey(checked.url) };
}
