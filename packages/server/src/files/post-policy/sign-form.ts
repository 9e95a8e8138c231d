import { createHmac } from 'node:crypto';

/** What forms are signed with. */
export interface SigningKey {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Of credentials that are lent for a while; null: they are not. */
  readonly sessionToken: string | null;
  readonly region: string;
}

/** What a form allows: one object of one type and one size, for a while. */
export interface FormTerms {
  readonly bucket: string;
  readonly key: string;
  readonly contentType: string;
  readonly sizeBytes: number;
  readonly signedAt: number;
  readonly expiresAt: number;
}

export const ALGORITHM = 'AWS4-HMAC-SHA256';

/** The fields of an S3 POST policy form, signature V4, in the order to send; `file` comes behind them. */
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
  return { ...fields, policy: text, 'x-amz-signature': signatureOf(text, by.secretAccessKey, date, by.region) };
}

/** Of a policy's base64 text as it stands, in hexadecimal. */
export function signatureOf(policyText: string, secretAccessKey: string, date: string, region: string): string {
  const day = hmac(`AWS4${secretAccessKey}`, date.slice(0, 8));
  const signing = hmac(hmac(hmac(day, region), 's3'), 'aws4_request');
  return hmac(signing, policyText).toString('hex');
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}

/** `20261115T093000Z`. */
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
