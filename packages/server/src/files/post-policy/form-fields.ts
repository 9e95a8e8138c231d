import { invalidArgument, S3Error } from './s3-error.ts';
import { ALGORITHM, momentOfBasicDate } from './sign-form.ts';

/** The fields before the file, and the file's name. */
export interface ReceivedForm {
  /** In the order in which they arrived. */
  readonly fields: readonly (readonly [name: string, value: string])[];
  /** True if a field `file` follows. */
  readonly hasFile: boolean;
  /** Null if the sender gave none. */
  readonly filename: string | null;
}

/** The key that signed a form, and the time. */
export interface FormSigning {
  readonly accessKeyId: string;
  /** The credential's day, as `20261115`. */
  readonly day: string;
  /** `x-amz-date`, in milliseconds since 1970. */
  readonly signedAt: number;
  readonly policy: string;
  readonly signature: string;
}

export interface SignedForm {
  /** By lower-case names, with `${filename}` replaced. */
  readonly fields: ReadonlyMap<string, string>;
  /** The names as they were sent: an error about a field repeats the sender's spelling. */
  readonly names: readonly string[];
  readonly signing: FormSigning;
}

const FILENAME = `$\{filename}`;
/** S3 requires all of them or none. If one is missing, its error uses the name on the right. */
const SIGNING_FIELDS = {
  'x-amz-algorithm': 'X-Amz-Algorithm',
  'x-amz-credential': 'X-Amz-Credential',
  'x-amz-date': 'X-Amz-Date',
  'x-amz-signature': 'X-Amz-Signature',
} as const;
/** Fields of signature version 2, which S3 refuses in every region newer than 2014. */
const OLD_SIGNING_FIELDS = ['awsaccesskeyid', 'signature'];
/** `${filename}` is not replaced in these. */
const AS_SENT: ReadonlySet<string> = new Set(['policy', ...Object.keys(SIGNING_FIELDS)]);
const MAX_KEY_BYTES = 1024;
/** S3's limit for everything before the file's first byte: fields, their heads and boundaries. */
export const MAX_FORM_BYTES = 20_480;

/** Reads the required fields and checks each on its own. Throws S3's error if one is missing or malformed. */
export function readFields(form: ReceivedForm, region: string): SignedForm {
  const { fields, names } = gather(form);
  checkKey(required(fields, 'key', 'key'));
  if (!form.hasFile) throw invalidArgument('POST requires exactly one file upload per request.', 'file', '0');
  if (!Object.keys(SIGNING_FIELDS).some((name) => fields.has(name))) {
    throw new S3Error(OLD_SIGNING_FIELDS.some((name) => fields.has(name)) ? 'UnsupportedSignature' : 'AccessDenied');
  }
  const policy = required(fields, 'policy', 'policy');
  const [algorithm, credential, date, signature] = Object.entries(SIGNING_FIELDS).map(([name, shown]) =>
    required(fields, name, shown),
  ) as [string, string, string, string];
  if (algorithm !== ALGORITHM) throw invalidArgument(`Only ${ALGORITHM} is supported`, 'X-Amz-Algorithm', algorithm);
  const signedAt = momentOfBasicDate(date);
  if (signedAt === null) {
    // S3 spells it this way (`aws.bad_date`).
    throw invalidArgument('X-Amz-Date must be formated via ISO8601 Long format', 'X-Amz-Date', date);
  }
  return { fields, names, signing: { ...readCredential(credential, region), signedAt, policy, signature } };
}

/** S3 joins several fields with the same name by commas, as its documentation requires of senders. */
function gather({ fields: sent, filename }: ReceivedForm): Pick<SignedForm, 'fields' | 'names'> {
  const fields = new Map<string, string>();
  const names: string[] = [];
  let bytes = 0;
  for (const [name, value] of sent) {
    const key = name.toLowerCase();
    const expanded = filename === null || AS_SENT.has(key) ? value : value.replaceAll(FILENAME, () => filename);
    const earlier = fields.get(key);
    if (earlier === undefined) names.push(name);
    fields.set(key, earlier === undefined ? expanded : `${earlier},${expanded}`);
    // A short form with a long filename could expand to megabytes.
    bytes += Buffer.byteLength(expanded);
    if (bytes > MAX_FORM_BYTES) throw fieldsTooLarge();
  }
  return { fields, names };
}

export const fieldsTooLarge = () =>
  new S3Error('MaxPostPreDataLengthExceeded', undefined, { MaxPostPreDataLengthBytes: `${MAX_FORM_BYTES}` });

function checkKey(key: string): void {
  if (key === '') throw invalidArgument('User key must have a length greater than 0.', 'key', '');
  const bytes = Buffer.byteLength(key);
  if (bytes > MAX_KEY_BYTES) {
    throw new S3Error('KeyTooLongError', undefined, { Size: `${bytes}`, MaxSizeAllowed: `${MAX_KEY_BYTES}` });
  }
}

/** `<access key>/20261115/us-east-1/s3/aws4_request`; the parts are checked in S3's order. */
function readCredential(credential: string, region: string): Pick<FormSigning, 'accessKeyId' | 'day'> {
  const invalid = (problem: string, more: Readonly<Record<string, string>> = {}) =>
    invalidArgument(problem, 'X-Amz-Credential', credential, more);
  const parts = credential.split('/');
  if (parts.length !== 5) {
    throw invalid('the Credential is mal-formed; expecting "<YOUR-AKID>/YYYYMMDD/REGION/SERVICE/aws4_request".');
  }
  const [accessKeyId, day, scope, service, terminal] = parts as [string, string, string, string, string];
  if (accessKeyId === '') throw invalid('a non-empty Access Key (AKID) must be provided in the credential.');
  if (momentOfBasicDate(`${day}T000000Z`) === null) {
    throw invalid(`incorrect date format "${day}". This date in the credential must be in the format "yyyyMMdd".`);
  }
  if (scope === '') throw invalid('a non-empty region must be provided in the credential.');
  if (scope !== region) throw invalid(`the region '${scope}' is wrong; expecting '${region}'`, { Region: region });
  if (service !== 's3') throw invalid(`incorrect service "${service}". This endpoint belongs to "s3".`);
  if (terminal !== 'aws4_request') {
    throw invalid(`incorrect terminal "${terminal}". This endpoint uses "aws4_request".`);
  }
  return { accessKeyId, day };
}

function required(fields: ReadonlyMap<string, string>, name: string, shown: string): string {
  const value = fields.get(name);
  if (value !== undefined) return value;
  const message = `Bucket POST must contain a field named '${shown}'.  If it is specified, please check the order of the fields.`;
  throw invalidArgument(message, shown, '');
}
