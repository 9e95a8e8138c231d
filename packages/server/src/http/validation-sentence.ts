import { maxFileBytes } from '@runwire/contract';
import { patternSentences } from '@runwire/contract/schemas';
import { memberName } from '@runwire/lib/member-name.ts';
import type { ErrorObject } from 'ajv';
import { MAX_URL_CHARACTERS } from '../domain/attachment/attachment.ts';

const PARTS: Readonly<Record<string, string>> = {
  body: 'body',
  querystring: 'query',
  params: 'path',
  headers: 'headers',
};

/** `/attachments/0/type` → `attachments[0].type`. */
function fieldName(pointer: string): string {
  const parts = pointer
    .split('/')
    .slice(1)
    .map((part) => memberName(part.replaceAll('~1', '/').replaceAll('~0', '~')));
  return parts.reduce(
    (name, part) => (/^\d+$/.test(part) ? `${name}[${part}]` : name === '' ? part : `${name}.${part}`),
    '',
  );
}

function join(field: string, below: string): string {
  return field === '' ? below : `${field}.${below}`;
}

/** What the fields may contain that select one of several forms. */
const FORMS: Readonly<Record<string, readonly string[]>> = {
  type: ['input_file', 'input_image'],
  role: ['user', 'assistant', 'tool'],
};

/** Sentences for fields whose bounds need an explanation, by field and keyword. */
const BOUNDS: Readonly<Record<string, string>> = {
  'sizeBytes maximum': `The file is larger than ${maxFileBytes / 1024 / 1024} MiB; upload a smaller one (\`sizeBytes\` must be at most ${maxFileBytes}).`,
  'sizeBytes minimum': 'The file is empty; upload one with content (`sizeBytes` must be at least 1).',
};

const oneOf = (values: readonly unknown[]) =>
  `must be one of ${values.map((value) => JSON.stringify(value)).join(', ')}.`;

/** Returns one clear sentence about the first problem, with the field's name. */
export function validationSentence(error: ErrorObject, part: string): string {
  const field = fieldName(error.instancePath);
  const where = PARTS[part] ?? part;
  const subject = field === '' ? `The ${where}` : `\`${field}\``;
  const params = error.params as Readonly<Record<string, unknown>>;
  switch (error.keyword) {
    case 'required':
      return `\`${join(field, String(params.missingProperty))}\` is missing from the ${where}.`;
    case 'additionalProperties':
      return `\`${join(field, memberName(String(params.additionalProperty)))}\` is not a known field.`;
    case 'type': {
      const types = Array.isArray(params.type) ? params.type.join(' or ') : String(params.type);
      return `${subject} must be of type ${types}.`;
    }
    case 'enum':
      return `${subject} ${oneOf((params.allowedValues as unknown[]).filter((value) => value !== null))}`;
    case 'discriminator': {
      const tag = String(params.tag);
      return `\`${join(field, tag)}\` ${oneOf(FORMS[tag] ?? [])}`;
    }
    case 'maxItems':
      return `${subject} must have at most ${String(params.limit)} items.`;
    case 'minLength':
      return `${subject} must have at least ${String(params.limit)} characters.`;
    case 'maxLength':
      return `${subject} must have at most ${String(params.limit)} characters.`;
    case 'pattern':
      return `${subject} ${patternSentences[String(params.pattern)] ?? 'does not have the required form'}.`;
    case 'format':
      if (params.format === 'uri') {
        return `${subject} must be a URL such as https://files.example.com/a.pdf, of at most ${MAX_URL_CHARACTERS} characters, with spaces and all non-ASCII characters percent-encoded.`;
      }
      return `${subject} must be a valid ${String(params.format)}.`;
    default:
      return BOUNDS[`${field} ${error.keyword}`] ?? `${subject} ${error.message ?? 'is not valid'}.`;
  }
}
