import { BOUNDARY, type FormPart, type RawForm, signatureOf } from '@runwire/test-kit';
import type { FileOp, Json, Op, PolicyDocument } from './data.ts';

/** Where forms are sent, and with what they are signed. */
export interface Place {
  /** The address of a bucket. */
  readonly url: (bucket: string) => string;
  readonly bucket: string;
  readonly otherBucket: string;
  /** A name of the place's own, that is nobody's bucket. */
  readonly reservedBucket: string;
  readonly key: { readonly accessKeyId: string; readonly secretAccessKey: string; readonly region: string };
}

export interface BuiltForm {
  readonly url: string;
  readonly form: RawForm;
  /** Where the file belongs, and what it is. */
  readonly key: string;
  readonly bytes: Buffer;
  readonly signature: string;
  readonly policy: string;
  /** When it expires, where half of it is to be sent before that and half after. */
  readonly splitAt: number | null;
}

export const KEY = 'pictures/cat.png';
const TOKEN = 'a-token-of-a-session';
const BYTES = 'the bytes of a file';

export const basicDate = (ms: number) => new Date(ms).toISOString().replace(/\.\d{3}|[:-]/g, '');
const wholeSeconds = (ms: number) => new Date(ms).toISOString().replace(/\.\d{3}/, '');

export function fileBytes({ text, repeat, bytes }: FileOp): Buffer {
  if (text !== undefined) return Buffer.from(text);
  return repeat === undefined ? Buffer.from(BYTES) : Buffer.alloc(bytes ?? 0, repeat);
}

/** `{ACCESS_KEY}/…` and the like, and moments. */
export function fillIn(text: string, place: Place, date: string, now: number): string {
  return text
    .replaceAll('{BUCKET}', place.bucket)
    .replaceAll('{KEY}', KEY)
    .replaceAll('{TOKEN}', TOKEN)
    .replaceAll('{ACCESS_KEY}', place.key.accessKeyId)
    .replaceAll('{REGION}', place.key.region)
    .replaceAll('{YYYYMMDD}', date.slice(0, 8))
    .replaceAll('{YYYYMMDDTHHMMSSZ}', date)
    .replace(/\{NOW\+(\d+)s as YYYY-MM-DDTHH:MM:SSZ\}/, (_, s) => wholeSeconds(now + Number(s) * 1000))
    .replace(/\{NOW\+(\d+)s as "YYYY-MM-DD HH:MM:SS\.ffffff\+00:00"\}/, (_, s) =>
      new Date(now + Number(s) * 1000).toISOString().replace('T', ' ').replace('Z', '000+00:00'),
    );
}

export function filledPolicy(policy: PolicyDocument, fill: (text: string) => string): string {
  const filled = JSON.stringify(policy, (_, value) => (typeof value === 'string' ? fill(value) : value));
  return Buffer.from(filled).toString('base64');
}

const fieldOf = (condition: Json): string => {
  const name = Array.isArray(condition) ? String(condition[1]).slice(1) : Object.keys(condition as object)[0];
  return (name ?? '').toLowerCase();
};
const isRange = (condition: Json) => Array.isArray(condition) && condition[0] === 'content-length-range';

function momentOf(text: string, now: number): string {
  const [, sign = '+', seconds] = /^NOW(?:([+-])(\d+)s)?$/.exec(text) ?? [];
  if (!text.startsWith('NOW')) return text;
  return new Date(now + (sign === '-' ? -1 : 1) * Number(seconds ?? 0) * 1000).toISOString();
}

/** The base form with what the case changes about it; `patienceS`: how long one lives that is to expire on its way. */
export function buildForm(ops: readonly Op[], place: Place, now: number, patienceS: number): BuiltForm {
  const op: Op = Object.assign({}, ...ops);
  const file = op.file ?? {};
  const bytes = fileBytes(file);
  const date = basicDate(now - (op['x-amz-date'] === 'NOW-61min' ? 61 * 60_000 : 0));
  const {
    access_key = place.key.accessKeyId,
    date: dated = date.slice(0, 8),
    region = place.key.region,
    service = 's3',
    terminal = 'aws4_request',
  } = op.credential ?? {};
  const day = dated === '-1d' ? basicDate(now - 86_400_000).slice(0, 8) : dated;
  const credential = `${access_key}/${day}/${region}/${service}/${terminal}`;
  const fill = (text: string) => fillIn(text, place, date, now);
  const key = op.key ?? KEY;
  const bucket = op.bucket === undefined ? place.bucket : place.reservedBucket;
  const size = op.sign_request?.sizeBytes;

  let conditions: Json[] = [
    { bucket: op.conditions_set?.bucket ?? bucket },
    { key },
    ['eq', '$Content-Type', 'image/png'],
    ['content-length-range', ...(op.conditions_set_range ?? [size ?? 1, size ?? Math.max(1, bytes.length)])],
    { 'x-amz-algorithm': 'AWS4-HMAC-SHA256' },
    { 'x-amz-credential': credential },
    { 'x-amz-date': date },
  ];
  for (const { conditions_drop: drop } of ops) {
    if (drop === undefined) continue;
    conditions = conditions.filter((one) => isRange(one) || fieldOf(one) !== drop.toLowerCase());
  }
  for (const { conditions_add: add } of ops) {
    if (add !== undefined) {
      conditions.push(...(JSON.parse(JSON.stringify(add), (_, v) => (typeof v === 'string' ? fill(v) : v)) as Json[]));
    }
  }
  const lives = op.slow_body_seconds === undefined ? op['policy.expiration'] : `NOW+${patienceS}s`;
  const expiration = lives === undefined ? wholeSeconds(now + 900_000) : momentOf(lives, now);
  const document = { expiration, conditions };
  const policy = policyText(op, document);
  const signature = signatureOf(policy, place.key.secretAccessKey, day, region);
  const fields: [string, string][] = [
    ['key', key],
    ['Content-Type', 'image/png'],
    ['x-amz-algorithm', 'AWS4-HMAC-SHA256'],
    ['x-amz-credential', credential],
    ['x-amz-date', date],
    ['policy', policy],
    ['x-amz-signature', signature],
  ];
  const forged = Buffer.from(JSON.stringify({ ...document, conditions: [{ key: 'other' }] })).toString('base64');
  const value = (text: string) =>
    fill(text)
      .replace('{POLICY_B64 minus last 2 chars}', policy.slice(0, -2))
      .replace('{POLICY_B64}', policy)
      .replace('{FORGED_B64}', forged)
      .replace('{SIGNATURE upper-case}', signature.toUpperCase())
      .replace(/\{REPEAT (.) (\d+)\}/, (_, unit, times) => unit.repeat(Number(times)));
  const filePart: FormPart = {
    name: 'file',
    value: bytes,
    ...(file.no_filename === true ? {} : { filename: file.filename ?? 'cat.png' }),
    ...(file.filename_star === undefined ? {} : { moreDisposition: `; filename*=${file.filename_star}` }),
    ...(file.disposition === undefined ? {} : { disposition: file.disposition }),
    headers: [
      'Content-Type: image/png',
      ...Array.from({ length: op.part_headers_flood ?? 0 }, (_, line) => `X-Line-${line}: x`),
    ],
  };
  const parts = [
    ...changedFields(ops, fields, value).map(([name, text]): FormPart => ({ name, value: text })),
    filePart,
  ];
  const dropped = new Set(ops.map(({ field_drop: drop }) => drop));
  const only = op.fields_only;
  const kept = parts.filter(({ name }) => !dropped.has(name) && (only === undefined || only.includes(name)));
  const renamed = (part: FormPart): FormPart => ({ ...part, name: op.field_rename?.[part.name] ?? part.name });
  const after = op.append_part_after_file;
  return {
    url: place.url(op.url_bucket === undefined ? bucket : place.otherBucket),
    form: {
      parts: [...kept.map(renamed), ...(after === undefined ? [] : [{ ...after, value: value(after.text) }])],
      ...(op.request_header === undefined ? {} : { contentType: contentType(op.request_header) }),
      ...(op.boundary_quoted === true ? { contentType: `multipart/form-data; boundary="${BOUNDARY}"` } : {}),
      ...(op.line_ending === 'LF' ? { lineEnd: '\n' } : {}),
      preamble: op.preamble ?? '',
      epilogue: op.append_after_final_boundary ?? '',
      lengthBy: op.content_length === undefined ? 0 : -10,
    },
    key,
    bytes,
    signature,
    policy,
    splitAt: op.slow_body_seconds === undefined ? null : Date.parse(expiration),
  };
}

function policyText(op: Op, document: { expiration: string; conditions: readonly Json[] }): string {
  const base64 = (text: string) => Buffer.from(text).toString('base64');
  if (op.policy_b64 !== undefined) return op.policy_b64;
  if (op.policy_b64_padding === false) {
    // The white space makes the padding necessary whatever the policy is.
    const json = JSON.stringify(document);
    return base64(json.padEnd(json.length + 3 - (Buffer.byteLength(json) % 3) + 1)).replace(/=+$/, '');
  }
  if (op.policy_raw === undefined) return `${op.policy_b64_prefix ?? ''}${base64(JSON.stringify(document))}`;
  const inner = JSON.stringify(document.conditions).slice(1, -1);
  return base64(
    op.policy_raw.replace('{EXP}', document.expiration).replace(/\{full base conditions\}|\{base\}/, () => inner),
  );
}

function changedFields(ops: readonly Op[], fields: [string, string][], value: (text: string) => string) {
  let changed = fields;
  for (const { field_set: set, field_add_dup: twice } of ops) {
    for (const [name, text] of Object.entries(set ?? {})) {
      if (name === 'file') continue;
      const isThere = changed.some(([known]) => known === name);
      if (!isThere) changed.push([name, value(text)]);
      else changed = changed.map(([known, old]) => [known, known === name ? value(text) : old]);
    }
    for (const [name, texts] of Object.entries(twice ?? {})) {
      changed = changed.flatMap(([known, old]): [string, string][] =>
        known === name ? texts.map((text) => [name, value(text)]) : [[known, old]],
      );
    }
  }
  return changed;
}

const contentType = (headers: Readonly<Record<string, string>>) =>
  (headers['Content-Type'] ?? '').replace('boundary=..', `boundary=${BOUNDARY}`);
