import { timingSafeEqual } from 'node:crypto';
import { checkFilePath, MAX_FILE_BYTES, MOUNT, type MountPath } from '../../domain/file/mount-path.ts';
import type { SignedForm } from './form-fields.ts';
import { conditionFailed, type FieldCondition, type Policy, parsePolicy, type RangeCondition } from './parse-policy.ts';
import { againstPolicy, invalidArgument, S3Error } from './s3-error.ts';
import { computeSignature, type SigningKey } from './sign-form.ts';

/** How long a form that this server signs is valid. */
export const FORM_MS = 15 * 60_000;
/** S3 takes no form that was signed longer ago, even if its policy has not expired. */
const MAX_AGE_MS = 60 * 60_000;
/** The clocks of servers differ a little. */
const CLOCK_SKEW_MS = 5000;

/** A key that forms may be signed with. */
export interface VerifyingKey extends SigningKey {
  /** Null if the key is in use. */
  readonly retiredAt: number | null;
}

/** The upload that a valid form allows. */
export interface AllowedUpload {
  readonly signedAt: number;
  readonly expiresAt: number;
  readonly path: MountPath;
  readonly contentType: string;
  readonly minBytes: number;
  readonly maxBytes: number;
  /** By lower-case names. */
  readonly fields: ReadonlyMap<string, string>;
}

/**
 * Checks in the order of S3: signature, policy, expiry, conditions, coverage. `bucket` is from the URL, never from a
 * field.
 */
export function checkForm(form: SignedForm, key: VerifyingKey | null, bucket: string, now: number): AllowedUpload {
  const { fields, signing } = form;
  if (key === null) throw new S3Error('InvalidAccessKeyId', undefined, { AWSAccessKeyId: signing.accessKeyId });
  checkSignature(form, key);
  const policy = parsePolicy(signing.policy);
  if (now >= policy.expiresAt) throw expired();
  checkConditions(policy, fields, bucket);
  checkCoverage(policy, form.names);
  checkDate(policy, form, key, now);
  const path = getPath(fields.get('key') ?? '');
  const ranges = policy.conditions.filter((condition): condition is RangeCondition => condition.kind === 'range');
  return {
    signedAt: signing.signedAt,
    expiresAt: policy.expiresAt,
    path,
    contentType: getContentType(fields.get('content-type')),
    minBytes: Math.max(0, ...ranges.map(({ min }) => min)),
    // The limit of this server applies whatever the policy allows.
    maxBytes: Math.min(MAX_FILE_BYTES, ...ranges.map(({ max }) => max)),
    fields,
  };
}

function checkSignature({ signing }: SignedForm, key: VerifyingKey): void {
  const { accessKeyId, day, policy, signature } = signing;
  const right = Buffer.from(computeSignature(policy, key.secretAccessKey, day, key.region));
  const given = Buffer.from(signature);
  if (given.length === right.length && timingSafeEqual(given, right)) return;
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
    // The size is compared while the file arrives.
    if (condition.kind === 'range') continue;
    if (condition.kind === 'unmet') throw conditionFailed(condition.shown);
    const sent = fields.get(condition.field);
    const values = condition.field === 'bucket' ? [bucket, sent ?? bucket] : [sent];
    if (!values.every((value) => value !== undefined && isMet(condition, value)))
      throw conditionFailed(condition.shown);
  }
}

function isMet({ kind, field, value: wanted }: FieldCondition, value: string): boolean {
  if (kind === 'eq') return value === wanted;
  // The documentation of S3: "Content-Types values for a starts-with condition that include commas are interpreted as
  // lists."
  const values = field === 'content-type' ? value.split(',').map((one) => one.trim()) : [value];
  return values.every((one) => one.startsWith(wanted));
}

/**
 * The documentation of S3: "Each form field that you specify in a form must appear in the list of policy conditions."
 */
function checkCoverage({ conditions }: Policy, names: readonly string[]): void {
  const covered = new Set(['policy', 'x-amz-signature']);
  for (const condition of conditions) if ('field' in condition) covered.add(condition.field);
  const sent = names.some((name) => name.toLowerCase() === 'bucket') ? names : ['bucket', ...names];
  const extra = sent.filter((name) => !covered.has(name.toLowerCase()) && !/^x-ignore-/i.test(name));
  if (extra.length > 0) throw againstPolicy(`Extra input fields: ${extra.join(', ')}`);
}

function checkDate({ expiresAt }: Policy, { fields, signing }: SignedForm, key: VerifyingKey, now: number): void {
  const { signedAt, day } = signing;
  if (!fields.get('x-amz-date')?.startsWith(day)) {
    throw againstPolicy('X-Amz-Date must be of the day that X-Amz-Credential names.');
  }
  if (signedAt > now + FORM_MS) throw new S3Error('RequestTimeTooSkewed');
  if (now - signedAt > MAX_AGE_MS) throw expired();
  if (key.retiredAt === null) return;
  // An attacker who learnt a retired secret can backdate a form, but it then expires with the forms of that time.
  if (signedAt > key.retiredAt + CLOCK_SKEW_MS || expiresAt > signedAt + FORM_MS + 1000) {
    throw againstPolicy('Signed with a secret that was retired.');
  }
}

export const expired = () => againstPolicy('Policy expired.');

function getPath(key: string): MountPath {
  const checked = checkFilePath(`${MOUNT}/${key}`);
  if ('below' in checked) return checked.below;
  throw new S3Error('BadRequest', `An error occurred when parsing the HTTP request: the key ${checked.problem}.`);
}

function getContentType(sent: string | undefined): string {
  if (sent === undefined || sent === '') return 'application/octet-stream';
  // It becomes a header when the file is downloaded.
  if (/^[\x20-\x7e]{1,255}$/.test(sent)) return sent;
  throw invalidArgument('Content-Type must be of visible ASCII characters.', 'Content-Type', sent);
}
