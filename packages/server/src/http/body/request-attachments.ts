import type { GetCompletionV2Request } from '@runwire/contract';
import type { GivenAttachment, UrlAttachment } from '../../attachments/request-attachments.ts';
import { MAX_URL_CHARACTERS } from '../../domain/attachment.ts';
import { withoutFragment } from '../../domain/attachment-refresh.ts';
import { filenameProblem } from '../../domain/mount-path.ts';
import { Refusal } from '../../domain/refusal.ts';
import { checkFetchUrl, urlKey } from '../../lib/url-rules/check-url.ts';
import type { FetchAllow } from '../../lib/url-rules/fetch-allow.ts';
import { isDataUrl } from './inline-image.ts';
import type { InlineImages } from './inline-images.ts';

type BodyAttachment = NonNullable<GetCompletionV2Request['attachments']>[number];

/** The attachments of a checked body. Throws a `Refusal` that names the field. */
export function givenAttachments(
  attachments: readonly BodyAttachment[] | undefined,
  inline: InlineImages | null,
  allow: FetchAllow,
): GivenAttachment[] {
  return (attachments ?? []).map((attachment, position) => {
    const refused = (field: string, problem: string) =>
      new Refusal('invalid_request', `\`attachments[${position}].${field}\` ${problem}.`);
    if (attachment.type === 'input_file') {
      const { file_url: text, filename = null } = attachment;
      if (isDataUrl(text)) throw refused('file_url', 'must be an https URL, not a data URL');
      const problem = filename === null ? null : filenameProblem(filename);
      if (problem !== null) throw refused('filename', problem);
      const url = checkedUrl(text, allow, (what) => refused('file_url', what));
      return { kind: 'input_file', ...url, filename, detail: 'auto' };
    }
    const { image_url: text, detail = 'auto' } = attachment;
    if (!isDataUrl(text)) {
      const url = checkedUrl(text, allow, (what) => refused('image_url', what));
      return { kind: 'input_image', ...url, filename: null, detail };
    }
    const image = inline?.get(text);
    // Every data URL was taken out where the body was parsed.
    if (image === undefined) throw new Error('An inline image is not where its body was parsed.');
    if ('problem' in image) throw refused('image_url', image.problem);
    return { ...image, detail };
  });
}

function checkedUrl(
  text: string,
  allow: FetchAllow,
  refused: (problem: string) => Refusal,
): Pick<UrlAttachment, 'url' | 'urlKey'> {
  const tooLong = `must be at most ${MAX_URL_CHARACTERS} characters`;
  if (text.length > MAX_URL_CHARACTERS) throw refused(tooLong);
  const checked = checkFetchUrl(text, allow);
  if ('problem' in checked) throw refused(checked.problem);
  const url = withoutFragment(checked.url);
  // What is not ASCII takes up to nine characters once it is percent-encoded.
  if (url.length > MAX_URL_CHARACTERS) throw refused(tooLong);
  return { url, urlKey: urlKey(checked.url) };
}
