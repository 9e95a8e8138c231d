import { type BuiltForm, buildForm, type Place } from './build-form.ts';
import { type CephOptions, cephForm } from './ceph-forms.ts';
import { type Case, type CephCase, cases, ceph, type Expected, type Op } from './data.ts';

/** One form of a case, and what must become of it. */
export interface Sending {
  readonly build: (place: Place, now: number, patienceS: number) => BuiltForm;
  readonly expect: Expected;
  /** How often it is posted. */
  readonly times: number;
}

export interface Scene {
  readonly id: string;
  readonly sendings: readonly Sending[];
  /** What `create_agency_upload` must refuse, in place of a form. */
  readonly signing: NonNullable<Op['sign_request']> | null;
}

/**
 * If sources differ, AWS as recorded wins, then versitygw, then minio. A note about our own behaviour wins over these, and
 * the contract's rule of paths wins over everything.
 */
const OURS: Readonly<Record<string, Partial<Expected>>> = {
  // The notes: refused as no good policy.
  'minio.dup_conditions': { status: 400, code: 'InvalidPolicyDocument' },
  'minio.dup_expiration': { status: 400, code: 'InvalidPolicyDocument' },
  'minio.corrupt_base64': { status: 400, code: 'InvalidPolicyDocument' },
  // AWS names uncovered fields so.
  'minio.uncovered_x-amz-checksum-algorithm': extraField('x-amz-checksum-algorithm'),
  'minio.uncovered_x-amz-checksum-sha1': extraField('x-amz-checksum-sha1'),
  'minio.uncovered_x-amz-checksum-sha256': extraField('x-amz-checksum-sha256'),
  // versitygw has the same request as `vgw.bad_algorithm`.
  'minio.mismatch_x-amz-algorithm_incorrect': { status: 400, code: 'InvalidArgument' },
  // AWS answers this before it checks the conditions (`aws.bad_date`).
  'minio.mismatch_x-amz-date_incorrect': { status: 400, code: 'InvalidArgument' },
  // AWS spells the fields and the condition so (`aws.missing_x-amz-signature`).
  'vgw.partial_auth_x-amz-signature': {
    message:
      "Bucket POST must contain a field named 'X-Amz-Signature'.  If it is specified, please check the order of the fields.",
  },
  'vgw.partial_auth_x-amz-algorithm': {
    message:
      "Bucket POST must contain a field named 'X-Amz-Algorithm'.  If it is specified, please check the order of the fields.",
  },
  'vgw.content_type_list_bad': {
    message: 'Invalid according to Policy: Policy Condition failed: ["starts-with", "$content-type", "text/"]',
  },
  // "nothing may be written whatever the status": there is no such integration.
  'minio.reserved_bucket': { status: 404, code: 'NoSuchBucket' },
};

function extraField(name: string): Partial<Expected> {
  return { message: `Invalid according to Policy: Extra input fields: ${name}` };
}

const DENIED: Expected = { status: 403, code: 'AccessDenied' };
const sending = (build: Sending['build'], expect: Expected, times = 1): Sending => ({ build, expect, times });
const ofOps = (ops: readonly Op[], expect: Expected, times = 1) =>
  sending((place, now, patienceS) => buildForm(ops, place, now, patienceS), expect, times);

/** What a note adds to a case, or tests in its place. */
const ADAPTED: Readonly<Record<string, (one: Case) => readonly Sending[]>> = {
  'aws.redirect_303': ({ ops, expect }) => [
    ofOps(ops, expect),
    ofOps(
      ops.filter((op) => op.conditions_add === undefined),
      DENIED,
    ),
  ],
  // "we sign an exact key, so a key containing the variable must fail the eq condition"; and no name of a file holds it.
  'aws.filename_variable_kept_literal': ({ ops }) => [
    ofOps(
      ops.filter((op) => op.field_set !== undefined || op.file !== undefined),
      DENIED,
    ),
    ofOps(ops, { status: 400, code: 'BadRequest' }),
  ],
  'minio.reserved_bucket': ({ ops, expect }) => [
    ofOps(ops, expect),
    sending((place, now, patienceS) => {
      const built = buildForm(
        ops.filter((op) => op.bucket === undefined),
        place,
        now,
        patienceS,
      );
      return { ...built, url: place.url(place.reservedBucket) };
    }, DENIED),
  ],
};

function caseScene(one: Case): Scene {
  const { id, ops } = one;
  const expect = { ...one.expect, ...OURS[id] };
  const times = ops.find((op) => op.repeat !== undefined)?.repeat ?? 1;
  const request = ops.find((op) => op.sign_request !== undefined)?.sign_request ?? null;
  const isSigning = request !== null && ops.length === 1;
  const sendings = ADAPTED[id]?.({ ...one, expect }) ?? (isSigning ? [] : [ofOps(ops, expect, times)]);
  return { id, sendings, signing: isSigning ? request : null };
}

type CephRequest = CephCase['requests'][number];
const ofCeph = (request: CephRequest, expect: Expected, options: CephOptions = {}) =>
  sending((place, now) => cephForm(request, place, now, options), expect);

const CEPH: Readonly<Record<string, (request: CephRequest) => readonly Sending[]>> = {
  // The contract: no name of a file holds a backslash. That it was compared literally shows in that the policy held.
  'ceph.test_post_object_escaped_field_values': (request) => [
    ofCeph(request, { status: 400, code: 'BadRequest' }),
    ofCeph(
      withConditions(request, ['starts-with', '$x-amz-meta-foo', '\\$foo']),
      { status: 204 },
      {
        set: { key: 'foo.txt' },
        more: { 'x-amz-meta-foo': '\\$foo.txt' },
        cover: ['key'],
      },
    ),
  ],
  // "an SSE field without a condition must give 403 (extra input field)"
  'ceph.test_sse_s3_default_post_object_authenticated_request': (request) => [
    ofCeph(withConditions(request), extraSse, { more: { 'x-amz-server-side-encryption': 'AES256' } }),
  ],
  'ceph.test_post_object_upload_checksum': (request) => [
    ofCeph(request, { status: request.expectStatus }, { cover: ['x-amz-checksum-sha256'] }),
  ],
};

const extraSse: Expected = { ...DENIED, ...extraField('x-amz-server-side-encryption') };

/** Without those on the key's beginning and on encryption, with these. */
function withConditions(request: CephRequest, ...more: readonly (readonly string[])[]): CephRequest {
  const isKept = (condition: unknown) =>
    !(Array.isArray(condition) && (condition[1] === '$x-amz-server-side-encryption' || condition[2] === '\\$foo'));
  const conditions = [...(request.policy?.conditions ?? []).filter(isKept), ...more];
  return { ...request, policy: { ...request.policy, conditions } };
}

function cephScene({ id, requests }: CephCase): Scene {
  const sendings = requests.flatMap((request) => {
    const adapted = CEPH[id]?.(request);
    if (adapted !== undefined) return adapted;
    const expect = { status: request.expectStatus };
    // "send it signed; and send it once unsigned and expect 403 AccessDenied"
    return request.policy === null
      ? [ofCeph(request, expect), ofCeph(request, DENIED, { unsigned: true })]
      : [ofCeph(request, expect)];
  });
  return { id, sendings, signing: null };
}

export const cephScenes: readonly Scene[] = ceph.map(cephScene);
export const caseScenes: readonly Scene[] = cases.map(caseScene);
