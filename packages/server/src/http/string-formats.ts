import type { Format } from 'ajv';
import { fullFormats } from 'ajv-formats/dist/formats.js';
import { MAX_URL_CHARACTERS } from '../domain/attachment/attachment.ts';

const dateTime = fullFormats['date-time'] as { readonly validate: (text: string) => boolean };
const uri = fullFormats.uri as (text: string) => boolean;

/** What `format` means in our schemas. */
export const stringFormats: Record<string, Format> = {
  ...fullFormats,
  // A leap second is a valid date-time, but `Date` cannot represent it.
  'date-time': (text: string) => dateTime.validate(text) && !Number.isNaN(Date.parse(text)),
  // The expression uses stack for each character, so a URL of megabytes would overflow it.
  uri: (text: string) => text.length <= MAX_URL_CHARACTERS && uri(text),
};
