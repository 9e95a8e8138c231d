import type { FetchAllow } from '@runwire/guarded-fetch/url-rules';
import { memberName } from '@runwire/lib/member-name.ts';
import type { RequestAttachment } from '../../attachments/request-attachment.ts';
import { Refusal } from '../../domain/refusal.ts';
import { inlineAttachment } from '../body/inline-file.ts';
import type { FileSource, ImageSource } from '../body/inline-files.ts';
import { isDataUrl } from '../body/inline-image.ts';
import { fileByUrl, imageByUrl } from '../body/request-attachments.ts';
import { Fields } from './fields.ts';

/** What attachments in a foreign body may be. */
export interface PartRules {
  readonly fetchAllow: FetchAllow;
  /** The bytes that the body contains. */
  readonly inline: ImageSource & FileSource;
}

/** One message's content. */
export interface MessageContent {
  readonly text: string;
  readonly attachments: readonly RequestAttachment[];
}

const TEXT_TYPES: ReadonlySet<string> = new Set(['text', 'input_text', 'output_text']);

/** Reads a message's content: a text, or a list of parts as both APIs of OpenAI have them. Empty if it is absent. */
export function readContent(message: Fields, name: string, rules: PartRules): MessageContent {
  const content = message.any(name);
  if (content === null) return { text: '', attachments: [] };
  if (typeof content === 'string') return { text: content, attachments: [] };
  if (!Array.isArray(content)) throw message.refusal(name, 'must be a text or a list of parts');
  const texts: string[] = [];
  const attachments: RequestAttachment[] = [];
  for (const part of message.objects(name)) {
    const type = part.requiredText('type');
    if (TEXT_TYPES.has(type)) texts.push(part.requiredText('text'));
    else if (type === 'refusal') texts.push(part.requiredText('refusal'));
    else attachments.push(readAttachment(part, type, rules));
  }
  return { text: texts.join('\n'), attachments };
}

function readAttachment(part: Fields, type: string, rules: PartRules): RequestAttachment {
  switch (type) {
    case 'input_image':
      return readImage(part, part.any('image_url'), part.text('detail'), rules);
    case 'image_url': {
      const image = part.any('image_url');
      if (typeof image === 'string') return readImage(part, image, null, rules);
      const fields = Fields.of(image, part.nameOf('image_url'));
      return readImage(fields, fields.any('url'), fields.text('detail'), rules, 'url');
    }
    case 'input_file':
      return readFile(part, rules);
    case 'file': {
      const file = part.object('file');
      if (file === null) throw part.refusal('file', 'is missing');
      return readFile(file, rules);
    }
    default: {
      const sentence = `\`${memberName(part.nameOf('type'))}\` is \`${memberName(type)}\`, which is not supported; send texts, images and files.`;
      throw new Refusal('unsupported_field', sentence);
    }
  }
}

const DETAILS: ReadonlySet<string | null> = new Set(['auto', 'low', 'high']);

function readImage(
  fields: Fields,
  url: unknown,
  sentDetail: string | null,
  rules: PartRules,
  name = 'image_url',
): RequestAttachment {
  refuseFileId(fields);
  if (typeof url !== 'string' || url === '') throw fields.refusal(name, 'must be an https URL or a data URL');
  const detail = (DETAILS.has(sentDetail) ? sentDetail : 'auto') as 'auto' | 'low' | 'high';
  if (isDataUrl(url)) {
    const image = inlineAttachment(rules.inline.image(url), { detail });
    if ('problem' in image) throw fields.refusal(name, image.problem);
    return image;
  }
  return imageByUrl(url, detail, rules.fetchAllow, (_, problem) => fields.refusal(name, problem));
}

function readFile(fields: Fields, rules: PartRules): RequestAttachment {
  refuseFileId(fields);
  const data = fields.text('file_data');
  const url = fields.text('file_url');
  const filename = fields.text('filename');
  if (data !== null) {
    const file = inlineAttachment(rules.inline.file(data), { filename });
    if ('problem' in file) throw fields.refusal('file_data', file.problem);
    return file;
  }
  if (url === null) throw fields.refusal('file_url', 'is missing');
  return fileByUrl(url, filename, rules.fetchAllow, (field, problem) => fields.refusal(field, problem));
}

function refuseFileId(fields: Fields): void {
  if (!fields.has('file_id')) return;
  const sentence = `\`${memberName(fields.nameOf('file_id'))}\` is not supported: this server stores no files by id; send a URL or the bytes.`;
  throw new Refusal('unsupported_field', sentence);
}
