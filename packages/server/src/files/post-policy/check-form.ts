import { timingSafeEqual } from 'node:crypto';
import { checkFilePath, MAX_FILE_BYTES, MOUNT, type MountPath } from '../../domain/mount-path.ts';
import type { SignedForm } from './form-fields.ts';
import { conditionFailed, type FieldCondition, type Policy, parsePolicy, type RangeCondition } from './parse-policy.ts';
import { againstPolicy, invalidArgument, S3Error } from './s3-error.ts';
import { type SigningKey, signatureOf } from './sign-form.ts';

/** How long the forms live that this server signs. */
export const FORM_MS = 15 * 60_000;
/** S3 takes no form that was signed longer ago, even where its policy lives on. */
const MAX_AGE_MS = 60 * 60_000;
/** Servers' clocks differ a little. */
const CLOCK_SKEW_MS = 5000;

/** With what a form may be signed, and until when it could be. */
export interface VerifyingKey extends SigningKey {
  /** Null: it is the one in use. */
  readonly retiredAt: number | null;
}

/** What a form that was found good allows. */
export interface AllowedUpload {
  readonly expiresAt: number;
  readonly path: MountPath;
  readonly contentType: string;
  readonly minBytes: number;
  readonly maxBytes: number;
  /** By names in lower case. */
  readonly fields: ReadonlyMap<string, string>;
}

/** The order is S3's: signature, policy, expiry, conditions, coverage. `bucket` is from the URL alone. */
export function checkForm(form: SignedForm, key: VerifyingKey | null, bucket: string, now: number): AllowedUpload {
  const { fields, signing } = form;
  if (key === null) throw new S3Error('InvalidAccessKeyId', undefined, { AWSAccessKeyId: signing.accessKeyId });
  checkSignature(form, key);
  const policy = parsePolicy(signing.policy);
  if (now >= policy.expiresAt) throw expired();
  checkConditions(policy, fields, bucket);
  checkCoverage(policy, fields);
  checkDate(policy, form, key, now);
  const path = pathOf(fields.get('key') ?? '');
  const ranges = policy.conditions.filter((condition): condition is RangeCondition => condition.kind === 'range');
  return {
    expiresAt: policy.expiresAt,
    path,
    contentType: contentTypeOf(fields.get('content-type')),
    minBytes: Math.max(0, ...ranges.map(({ min }) => min)),
    // Whatever a policy allows.
    maxBytes: Math.min(MAX_FILE_BYTES, ...ranges.map(({ max }) => max)),
    fields,
  };
}

function checkSignature({ signing }: SignedForm, key: VerifyingKey): void {
  const { accessKeyId, day, region, policy, signature } = signing;
  const right = Buffer.from(signatureOf(policy, key.secretAccessKey, day, region));
  const given = Buffer.from(signature);
  if (region === key.region && given.length === right.length && timingSafeEqual(given, right)) return;
  throw new S3Error('SignatureDoesNotMatch', undefined, {
    AWSAccessKeyId: accessKeyId,
    StringToSign: policy,
    SignatureProvided: signature,
    StringToSignBytes: Buffer.from(policy)
      .toString('hex')
      .replace(/..(?=.)/g, '$& '),
  });
}

function checkConditions({ conditions }: Policy, fields: ReadonlyMap<string, string>, bucket: string): void {
  for (const condition of conditions) {
    if (condition.kind === 'range') continue;
    const sent = fields.get(condition.field);
    const values = condition.field === 'bucket' ? [bucket, sent ?? bucket] : [sent];
    if (!values.every((value) => value !== undefined && isMet(condition, value)))
      throw conditionFailed(condition.shown);
  }
}

function isMet({ kind, field, value: wanted }: FieldCondition, value: string): boolean {
  if (kind === 'eq') return value === wanted;
  // A list of types: each of them must begin so.
  const values = field === 'content-type' ? value.split(',').map((one) => one.trim()) : [value];
  return values.every((one) => one.startsWith(wanted));
}

/** "Each form field that you specify in a form must appear in the list of policy conditions." */
function checkCoverage({ conditions }: Policy, fields: ReadonlyMap<string, string>): void {
  const covered = new Set(conditions.map((condition) => (condition.kind === 'range' ? '' : condition.field)));
  const extra = ['bucket', ...fields.keys()].filter(
    (name) => !covered.has(name) && name !== 'policy' && name !== 'x-amz-signature' && !name.startsWith('x-ignore-'),
  );
  if (extra.length > 0) throw againstPolicy(`Extra input fields: ${[...new Set(extra)].join(', ')}`);
}

function checkDate({ expiresAt }: Policy, { fields, signing }: SignedForm, key: VerifyingKey, now: number): void {
  const text = fields.get('x-amz-date') ?? '';
  const [, day, hours, minutes, seconds] = /^(\d{8})T(\d\d)(\d\d)(\d\d)Z$/.exec(text) ?? [];
  const date = day?.replace(/(....)(..)(..)/, '$1-$2-$3');
  const signedAt = Date.parse(`${date}T${hours}:${minutes}:${seconds}Z`);
  if (Number.isNaN(signedAt) || day !== signing.day) {
    throw againstPolicy('X-Amz-Date must be of the day that X-Amz-Credential names.');
  }
  if (signedAt > now + FORM_MS) throw new S3Error('RequestTimeTooSkewed');
  if (now - signedAt > MAX_AGE_MS) throw expired();
  if (key.retiredAt === null) return;
  // Whoever learnt a retired secret can put an earlier date on a form; it lives no longer than one that was signed then.
  if (signedAt > key.retiredAt + CLOCK_SKEW_MS || expiresAt > signedAt + FORM_MS + 1000) {
    throw againstPolicy('Signed with a secret that was retired.');
  }
}

export const expired = () => againstPolicy('Policy expired.');

function pathOf(key: string): MountPath {
  const checked = checkFilePath(`${MOUNT}/${key}`);
  if ('below' in checked) return checked.below;
  throw new S3Error('BadRequest', `An error occurred when parsing the HTTP request: the key ${checked.problem}.`);
}

function contentTypeOf(sent: string | undefined): string {
  if (sent === undefined || sent === '') return 'application/octet-stream';
  // It becomes a header of an answer some day.
  if (/^[\x20-\x7e]{1,255}$/.test(sent)) return sent;
  throw invalidArgument('Content-Type must be of visible ASCII characters.', 'Content-Type', sent);
}
