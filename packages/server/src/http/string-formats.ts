import type { Format } from 'ajv';
import { fullFormats } from 'ajv-formats/dist/formats.js';
import { MAX_URL_CHARACTERS } from '../domain/attachment/attachment.ts';

const dateTime = fullFormats['date-time'] as { readonly validate: (text: string) => boolean };
const uri = fullFormats.uri as (text: string) => boolean;

const YEAR_0 = Date.parse('0000-01-01T00:00:00Z');
const YEAR_10000 = Date.UTC(10_000, 0);

/** What `format` means in our schemas. */
export const stringFormats: Record<string, Format> = {
  ...fullFormats,
  // A leap second is a valid date-time, but `Date` cannot represent it. By its offset, a time can be in another year than it
  // names; outside of the years 0 to 9999 it could not be answered as a date-time.
  'date-time': (text: string) => dateTime.validate(text) && Date.parse(text) >= YEAR_0 && Date.parse(text) < YEAR_10000,
  // The expression uses stack for each character, so a URL of megabytes would overflow it.
  uri: (text: string) => text.length <= MAX_URL_CHARACTERS && uri(text),
};
