import { computeSignature } from '@runwire/server/src/files/post-policy/sign-form.ts';
import { BOUNDARY, type FormAnswer, type FormPart, type RawForm } from './post-form.ts';

/** The server that receives the forms, and the key that signs them. */
export interface Target {
  readonly url: (bucket: string) => string;
  readonly bucket: string;
  readonly otherBucket: string;
  /** A name that the target keeps for itself: it is no bucket. */
  readonly reservedBucket: string;
  readonly key: { readonly accessKeyId: string; readonly secretAccessKey: string; readonly region: string };
}

// biome-ignore lint/suspicious/noExplicitAny: `data/post-policy-cases.json` describes its own format.
type Data = any;

/** One form of a case: whole (`fields`, `policy`, `file`) or a change of the base form. */
export interface Sending {
  readonly fields?: Readonly<Record<string, string>>;
  readonly policy?: Data;
  readonly file?: Data;
  readonly change?: Data;
  readonly expect: Data;
  readonly times?: number;
}

export interface BuiltForm {
  readonly url: string;
  readonly form: RawForm;
  readonly key: string;
  readonly bytes: Buffer;
  readonly signature: string;
  /** When the form expires, if one half of it must be sent before that moment and one half after. */
  readonly splitAt: number | null;
}

export const KEY = 'pictures/cat.png';
const basicDate = (ms: number) => new Date(ms).toISOString().replace(/\.\d{3}|[:-]/g, '');
const wholeSeconds = (ms: number) => new Date(ms).toISOString().replace(/\.\d{3}/, '');
const base64 = (text: string) => Buffer.from(text).toString('base64');
const fileBytes = ({ text, repeat, bytes }: Data): Buffer =>
  repeat === undefined ? Buffer.from(text ?? 'the bytes of a file') : Buffer.alloc(bytes, repeat);

const filler =
  ({ bucket, key }: Target, date: string, now: number) =>
  (text: string) =>
    text
      .replaceAll('{BUCKET}', bucket)
      .replaceAll('{KEY}', KEY)
      .replaceAll('{TOKEN}', 'a-token-of-a-session')
      .replaceAll('{ACCESS_KEY}', key.accessKeyId)
      .replaceAll('{REGION}', key.region)
      .replaceAll('{YYYYMMDD}', date.slice(0, 8))
      .replaceAll('{YYYYMMDDTHHMMSSZ}', date)
      .replace(/\{NOW\+(\d+)s as YYYY-MM-DDTHH:MM:SSZ\}/, (_, s) => wholeSeconds(now + Number(s) * 1000))
      .replace(/\{NOW\+(\d+)s as "YYYY-MM-DD HH:MM:SS\.ffffff\+00:00"\}/, (_, s) =>
        new Date(now + Number(s) * 1000).toISOString().replace('T', ' ').replace('Z', '000+00:00'),
      );
const filled = (data: Data, fill: (text: string) => string): Data =>
  JSON.parse(JSON.stringify(data), (_, value) => (typeof value === 'string' ? fill(value) : value));

/** As ceph/s3-tests sends it: every part has its own name as its file name. */
function wholeForm({ fields = {}, policy, file }: Sending, target: Target, now: number): BuiltForm {
  const date = basicDate(now);
  const fill = filler(target, date, now);
  const text = base64(JSON.stringify(filled(policy, fill)));
  const signature = computeSignature(text, target.key.secretAccessKey, date.slice(0, 8), target.key.region);
  const value = (raw: string) => fill(raw).replace('{POLICY_B64}', text).replace('{SIGNATURE}', signature);
  const parts = Object.entries(fields).map(([name, raw]): FormPart => ({ name, filename: name, value: value(raw) }));
  const bytes = fileBytes(file);
  return {
    url: target.url(target.bucket),
    form: { parts: [...parts, { name: 'file', filename: 'file', value: bytes }] },
    key: value(fields.key ?? ''),
    bytes,
    signature,
    splitAt: null,
  };
}

/** The base form with a case's changes; `patienceS`: how long a form lives that must expire while it is sent. */
export function buildForm(sending: Sending, target: Target, now: number, patienceS: number): BuiltForm {
  if (sending.fields !== undefined) return wholeForm(sending, target, now);
  const { change = {} } = sending;
  const { file = {}, key = KEY, credential: given = {}, sign_request: request = {} } = change;
  const bytes = fileBytes(file);
  const date = basicDate(now - (change['x-amz-date'] === 'NOW-61min' ? 61 * 60_000 : 0));
  const fill = filler(target, date, now);
  const day = given.date === '-1d' ? basicDate(now - 86_400_000).slice(0, 8) : (given.date ?? date.slice(0, 8));
  const { access_key: access = target.key.accessKeyId, region = target.key.region } = given;
  const credential = `${access}/${day}/${region}/${given.service ?? 's3'}/${given.terminal ?? 'aws4_request'}`;
  const bucket = change.bucket === undefined ? target.bucket : target.reservedBucket;
  const size = request.sizeBytes;
  const range = change.conditions_set_range ?? [size ?? 1, size ?? Math.max(1, bytes.length)];
  const dropped = (change.conditions_drop ?? []).map((name: string) => name.toLowerCase());
  const nameIn = (one: Data) => String(Array.isArray(one) ? one[1].slice?.(1) : Object.keys(one)[0]).toLowerCase();
  const conditions = [
    { bucket: change.conditions_set?.bucket ?? bucket },
    { key },
    ['eq', '$Content-Type', 'image/png'],
    ['content-length-range', ...range],
    { 'x-amz-algorithm': 'AWS4-HMAC-SHA256' },
    { 'x-amz-credential': credential },
    { 'x-amz-date': date },
  ].filter((one: Data) => one[0] === 'content-length-range' || !dropped.includes(nameIn(one)));
  conditions.push(...filled(change.conditions_add ?? [], fill));
  const document = { expiration: getExpiration(change, now, patienceS), conditions };
  const policy = policyText(change, document);
  const signature = computeSignature(policy, target.key.secretAccessKey, day, region);
  const value = (text: string) =>
    fill(text)
      .replace('{POLICY_B64 minus last 2 chars}', policy.slice(0, -2))
      .replace('{POLICY_B64}', policy)
      .replace('{FORGED_B64}', base64(JSON.stringify({ ...document, conditions: [{ key: 'other' }] })))
      .replace('{SIGNATURE upper-case}', signature.toUpperCase())
      .replace(/\{REPEAT (.) (\d+)\}/, (_, unit, times) => unit.repeat(Number(times)));
  const base = {
    key,
    'Content-Type': 'image/png',
    'x-amz-algorithm': 'AWS4-HMAC-SHA256',
    'x-amz-credential': credential,
    'x-amz-date': date,
    policy,
    'x-amz-signature': signature,
  };
  const { file: _, ...set } = change.field_set ?? {};
  const fields = {
    ...base,
    ...Object.fromEntries(Object.entries(set).map(([name, text]) => [name, value(String(text))])),
  };
  const twice: Record<string, string[]> = change.field_add_dup ?? {};
  const parts = Object.entries(fields).flatMap(([name, text]): FormPart[] =>
    (twice[name]?.map(value) ?? [text]).map((one) => ({ name, value: one })),
  );
  const flood = Array.from({ length: change.part_headers_flood ?? 0 }, (_, line) => `X-Line-${line}: x`);
  parts.push({
    name: 'file',
    value: bytes,
    ...(file.no_filename === true ? {} : { filename: file.filename ?? 'cat.png' }),
    ...(file.filename_star === undefined ? {} : { moreDisposition: `; filename*=${file.filename_star}` }),
    ...(file.disposition === undefined ? {} : { disposition: file.disposition }),
    headers: ['Content-Type: image/png', ...flood],
  });
  const only: string[] | undefined = change.fields_only;
  const isSent = ({ name }: FormPart) => !change.field_drop?.includes(name) && (only?.includes(name) ?? true);
  const last = change.append_part_after_file;
  const mediaType = change.request_header?.['Content-Type']?.replace('boundary=..', `boundary=${BOUNDARY}`);
  const other = change.url_bucket === 'reserved' ? target.reservedBucket : target.otherBucket;
  return {
    url: target.url(change.url_bucket === undefined ? bucket : other),
    form: {
      parts: [
        ...parts.filter(isSent).map((part) => ({ ...part, name: change.field_rename?.[part.name] ?? part.name })),
        ...(last === undefined ? [] : [{ ...last, value: value(last.text) }]),
      ],
      ...(change.request_header === undefined ? {} : { contentType: mediaType ?? '' }),
      ...(change.boundary_quoted === true ? { contentType: `multipart/form-data; boundary="${BOUNDARY}"` } : {}),
      ...(change.line_ending === 'LF' ? { lineEnd: '\n' } : {}),
      preamble: change.preamble ?? '',
      epilogue: change.append_after_final_boundary ?? '',
      lengthBy: change.content_length === undefined ? 0 : -10,
    },
    key,
    bytes,
    signature,
    splitAt: change.slow_body_seconds === undefined ? null : Date.parse(document.expiration),
  };
}

function getExpiration(change: Data, now: number, patienceS: number): string {
  const lives = change.slow_body_seconds === undefined ? change['policy.expiration'] : `NOW+${patienceS}s`;
  if (lives === undefined) return wholeSeconds(now + 900_000);
  if (!lives.startsWith('NOW')) return lives;
  return new Date(now + Number(/^NOW(?:([+-]\d+)s)?$/.exec(lives)?.[1] ?? 0) * 1000).toISOString();
}

function policyText(change: Data, document: { readonly expiration: string; readonly conditions: Data }): string {
  const json = JSON.stringify(document);
  if (change.policy_b64 !== undefined) return change.policy_b64;
  if (change.policy_b64_padding === false) {
    // With this white space base64 needs padding, whatever the policy is.
    return base64(json.padEnd(json.length + 3 - (Buffer.byteLength(json) % 3) + 1)).replace(/=+$/, '');
  }
  if (change.policy_raw === undefined) return `${change.policy_b64_prefix ?? ''}${base64(json)}`;
  const inner = JSON.stringify(document.conditions).slice(1, -1);
  const raw = change.policy_raw.replace('{EXP}', document.expiration);
  return base64(raw.replace(/\{full base conditions\}|\{base\}/, () => inner));
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

const element = (xml: string, name: string): string | null =>
  new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1]?.replace(/&(\w+);/g, (_, e) => ENTITIES[e] ?? '') ?? null;

/** Returns the expected status, code, message, headers and XML of an answer, each beside the actual value. */
export function getComparisons(
  { status, headers, body, code }: FormAnswer,
  expect: Data,
  built: BuiltForm,
  target: Target,
): [what: string, found: unknown, wanted: unknown][] {
  const { extra = {} } = expect;
  const all: [string, unknown, unknown][] = [];
  const equal = (what: string, found: unknown, wanted: unknown) => all.push([what, found, wanted]);
  equal('status', status === extra.alternative_status ? expect.status : status, expect.status);
  const toPart = (name: string) => String(built.form.parts.find((part) => part.name === name)?.value);
  const fill = (text: string) =>
    text
      .replace('{REGION}', target.key.region)
      .replace('{BUCKET}', target.bucket)
      .replace('{CREDENTIAL}', toPart('x-amz-credential'));
  if (expect.code !== undefined) equal('code', code, expect.code);
  if (expect.message !== undefined) equal('message', element(body, 'Message'), fill(expect.message));
  const present = status >= 400 ? ['Code', 'Message', 'RequestId', 'HostId'] : [];
  if (status >= 400) equal('content type', headers['content-type'], 'application/xml');
  equal('CORS', headers['access-control-allow-origin'], '*');
  if (extra.no_header !== undefined) equal(extra.no_header, headers[extra.no_header.toLowerCase()], undefined);
  if (Array.isArray(extra.headers)) {
    for (const name of extra.headers) equal(`has ${name}`, headers[name.toLowerCase()] !== undefined, true);
  } else {
    for (const [name, value] of Object.entries(extra.headers ?? {})) equal(name, headers[name.toLowerCase()], value);
  }
  if (extra.xml_root !== undefined) equal(`has <${extra.xml_root}>`, body.includes(`<${extra.xml_root}>`), true);
  const wanted: Record<string, unknown> = { ...extra.children, ...(Array.isArray(extra.xml) ? {} : extra.xml) };
  for (const rule of Array.isArray(extra.xml) ? extra.xml : []) {
    const [name] = rule.split(' ');
    if (rule.includes('sent signature')) wanted[name] = built.signature;
    else if (rule.includes('policy field')) wanted[name] = toPart('policy');
    else present.push(name);
  }
  for (const [name, value] of Object.entries(wanted)) {
    const isLocation = name === 'Location' && extra.children !== undefined;
    equal(`<${name}>`, element(body, name), isLocation ? headers.location : fill(String(value)));
  }
  for (const name of present) equal(`has <${name}>`, element(body, name) !== null, true);
  if (extra.location_query !== undefined) {
    equal('query', [...new URL(String(headers.location)).searchParams.keys()], extra.location_query);
  }
  if (extra.body === 'empty') equal('body', body, '');
  return all;
}
