import { type FormPart, signatureOf } from '@runwire/test-kit';
import { type BuiltForm, basicDate, filledPolicy, fillIn, type Place } from './build-form.ts';
import type { CephCase, Json } from './data.ts';

type CephRequest = CephCase['requests'][number];

export interface CephOptions {
  /** Fields that get a condition of their own. */
  readonly cover?: readonly string[];
  /** Without anything of a signature. */
  readonly unsigned?: boolean;
  /** Put before the file. */
  readonly more?: Readonly<Record<string, string>>;
  /** In place of what the case says. */
  readonly set?: Readonly<Record<string, string>>;
}

const SIGNING: Readonly<Record<string, string>> = {
  'x-amz-algorithm': 'AWS4-HMAC-SHA256',
  'x-amz-credential': '{ACCESS_KEY}/{YYYYMMDD}/{REGION}/s3/aws4_request',
  'x-amz-date': '{YYYYMMDDTHHMMSSZ}',
};

/**
 * A request of the suite, signed anew. One that the suite sends without a signature is signed with a policy that allows
 * what it holds. As the suite does it, every part has a filename: its own name.
 */
export function cephForm(request: CephRequest, place: Place, now: number, options: CephOptions = {}): BuiltForm {
  const date = basicDate(now);
  const fill = (text: string) => fillIn(text, place, date, now);
  const sent = new Map(request.fields.map((field) => [field.name, field]));
  for (const [name, value] of Object.entries({ ...options.more, ...options.set })) sent.set(name, { name, value });
  const file = sent.get('file');
  const { repeat } = file ?? {};
  const bytes = repeat === undefined ? Buffer.from(file?.value ?? '') : Buffer.alloc(repeat.bytes, repeat.unit);
  sent.delete('file');
  if (options.unsigned === true)
    for (const name of [...Object.keys(SIGNING), 'policy', 'x-amz-signature']) sent.delete(name);
  else if (request.policy === null) {
    for (const [name, value] of Object.entries({
      ...SIGNING,
      policy: '{POLICY_B64}',
      'x-amz-signature': '{SIGNATURE}',
    })) {
      sent.set(name, { name, value });
    }
  }
  const covered = (names: Iterable<string>): Json[] =>
    [...names].map((name) => ({ [name]: sent.get(name)?.value ?? '' }));
  const own = [...sent.keys()].filter((name) => name !== 'policy' && name !== 'x-amz-signature');
  const policy = filledPolicy(
    request.policy === null
      ? { expiration: '{NOW+6000s as YYYY-MM-DDTHH:MM:SSZ}', conditions: [{ bucket: '{BUCKET}' }, ...covered(own)] }
      : {
          ...request.policy,
          ...(request.policy.conditions === undefined
            ? {}
            : { conditions: [...request.policy.conditions, ...covered(options.cover ?? [])] }),
        },
    fill,
  );
  const signature = signatureOf(policy, place.key.secretAccessKey, date.slice(0, 8), place.key.region);
  const value = (text: string) => fill(text).replace('{POLICY_B64}', policy).replace('{SIGNATURE}', signature);
  const parts = [...sent.values()].map(
    (field): FormPart => ({
      name: field.name,
      filename: field.name,
      value: value(field.value ?? ''),
    }),
  );
  return {
    url: place.url(place.bucket),
    form: { parts: [...parts, { name: 'file', filename: 'file', value: bytes }] },
    key: value(sent.get('key')?.value ?? ''),
    bytes,
    signature,
    policy,
    splitAt: null,
  };
}
