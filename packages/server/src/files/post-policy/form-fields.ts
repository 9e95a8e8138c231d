import { againstPolicy, invalidArgument, S3Error } from './s3-error.ts';
import { ALGORITHM } from './sign-form.ts';

/** What came before the file, and what the file is called. */
export interface ReceivedForm {
  /** In the order in which they came. */
  readonly fields: readonly (readonly [name: string, value: string])[];
  /** Whether a field `file` follows. */
  readonly hasFile: boolean;
  /** Null: the sender gave none. */
  readonly filename: string | null;
}

/** Who signed a form, and when. */
export interface FormSigning {
  readonly accessKeyId: string;
  /** `20261115`. */
  readonly day: string;
  readonly region: string;
  readonly policy: string;
  readonly signature: string;
}

export interface SignedForm {
  /** By names in lower case; `${filename}` stands in none of them any more. */
  readonly fields: ReadonlyMap<string, string>;
  readonly signing: FormSigning;
}

const FILENAME = `$\{filename}`;
/** All or none. Under the names that S3 calls them by where one is missing. */
const SIGNING_FIELDS = {
  'x-amz-algorithm': 'X-Amz-Algorithm',
  'x-amz-credential': 'X-Amz-Credential',
  'x-amz-date': 'X-Amz-Date',
  'x-amz-signature': 'x-amz-signature',
} as const;
/** Compared as they came: nothing in them stands for something else. */
const AS_SENT: ReadonlySet<string> = new Set(['policy', ...Object.keys(SIGNING_FIELDS)]);

/** The required fields, or what S3 says where one is missing. */
export function readFields(form: ReceivedForm): SignedForm {
  const fields = new Map<string, string>();
  for (const [name, value] of form.fields) {
    const key = name.toLowerCase();
    // Which of two counts, readers do not agree on.
    if (fields.has(key)) throw againstPolicy(`Field given more than once: ${key}`);
    const expanded =
      form.filename === null || AS_SENT.has(key) ? value : value.replaceAll(FILENAME, () => form.filename ?? '');
    fields.set(key, expanded);
  }
  required(fields, 'key', 'key');
  if (!form.hasFile) throw invalidArgument('POST requires exactly one file upload per request.', 'file', '0');
  const isSigned = Object.keys(SIGNING_FIELDS).some((name) => fields.has(name));
  if (!isSigned) throw new S3Error('AccessDenied');
  const policy = required(fields, 'policy', 'policy');
  const [algorithm, credential, , signature] = Object.entries(SIGNING_FIELDS).map(([name, shown]) =>
    required(fields, name, shown),
  ) as [string, string, string, string];
  if (algorithm !== ALGORITHM) {
    throw invalidArgument(`X-Amz-Algorithm only supports "${ALGORITHM}"`, 'X-Amz-Algorithm', algorithm);
  }
  const scope = /^([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request$/.exec(credential);
  if (scope === null) {
    const form = '"<your-akid>/YYYYMMDD/REGION/s3/aws4_request"';
    throw invalidArgument(
      `Error parsing the X-Amz-Credential parameter; it must be ${form}`,
      'X-Amz-Credential',
      credential,
    );
  }
  const [, accessKeyId = '', day = '', region = ''] = scope;
  return { fields, signing: { accessKeyId, day, region, policy, signature } };
}

function required(fields: ReadonlyMap<string, string>, name: string, shown: string): string {
  const value = fields.get(name);
  if (value !== undefined) return value;
  const message = `Bucket POST must contain a field named '${shown}'.  If it is specified, please check the order of the fields.`;
  throw invalidArgument(message, shown, '');
}
