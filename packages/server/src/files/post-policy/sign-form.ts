import { createHmac } from 'node:crypto';

/** The key that signs forms. */
export interface SigningKey {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** The token of temporary credentials. Null if they are permanent. */
  readonly sessionToken: string | null;
  readonly region: string;
}

/** A form allows one object of one type and size for a limited time. */
export interface FormTerms {
  readonly bucket: string;
  readonly key: string;
  readonly contentType: string;
  readonly sizeBytes: number;
  readonly signedAt: number;
  readonly expiresAt: number;
}

export const ALGORITHM = 'AWS4-HMAC-SHA256';

/**
 * Returns the fields of an S3 POST policy form, signature V4, in the order in which they are sent. `file` follows them.
 */
export function signForm(terms: FormTerms, by: SigningKey): Record<string, string> {
  const date = basicDate(terms.signedAt);
  const fields: Record<string, string> = {
    key: terms.key,
    'Content-Type': terms.contentType,
    'x-amz-algorithm': ALGORITHM,
    'x-amz-credential': `${by.accessKeyId}/${date.slice(0, 8)}/${by.region}/s3/aws4_request`,
    'x-amz-date': date,
    ...(by.sessionToken === null ? {} : { 'x-amz-security-token': by.sessionToken }),
  };
  const policy = JSON.stringify({
    expiration: new Date(terms.expiresAt).toISOString(),
    conditions: [
      { bucket: terms.bucket },
      ...Object.entries(fields).map(([name, value]) => ({ [name]: value })),
      ['content-length-range', terms.sizeBytes, terms.sizeBytes],
    ],
  });
  const text = Buffer.from(policy).toString('base64');
  return { ...fields, policy: text, 'x-amz-signature': computeSignature(text, by.secretAccessKey, date, by.region) };
}

/** Signs the base64 text of a policy. Returns hexadecimal text. */
export function computeSignature(policyText: string, secretAccessKey: string, date: string, region: string): string {
  const day = hmac(`AWS4${secretAccessKey}`, date.slice(0, 8));
  const signing = hmac(hmac(hmac(day, region), 's3'), 'aws4_request');
  return hmac(signing, policyText).toString('hex');
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}

/** Returns for example `20261115T093000Z`. */
function basicDate(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d{3}|[:-]/g, '');
}

/** The inverse of `basicDate`. Returns null if the text has another form, or names a day that does not exist. */
export function momentOfBasicDate(text: string): number | null {
  const [, year, month, day, hours, minutes, seconds] = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(text) ?? [];
  const ms = Date.parse(`${year}-${month}-${day}T${hours}:${minutes}:${seconds}Z`);
  // `Date` reads the 30th of February as a day in March.
  return Number.isNaN(ms) || basicDate(ms) !== text ? null : ms;
}
