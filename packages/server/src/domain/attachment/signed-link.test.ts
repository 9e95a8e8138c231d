import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { expiresAt } from './signed-link.ts';

const of = (query: string) => expiresAt(new URL(`https://files.example.com/a.pdf?${query}`));
const at = (iso: string) => Date.parse(iso);

const AMZ =
  'X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIAEXAMPLE%2F20300115%2Feu-central-1%2Fs3%2Faws4_request&X-Amz-Date=20300115T120000Z&X-Amz-Expires=900&X-Amz-SignedHeaders=host&X-Amz-Signature=4f0c';
const GOOG =
  'X-Goog-Algorithm=GOOG4-RSA-SHA256&X-Goog-Credential=a%40b.iam.gserviceaccount.com%2F20300115%2Fauto%2Fstorage%2Fgoog4_request&X-Goog-Date=20300115T120000Z&X-Goog-Expires=604800&X-Goog-SignedHeaders=host&X-Goog-Signature=8a1f';
const AZURE = 'sv=2024-11-04&st=2030-01-15T11%3A00%3A00Z&sr=b&sp=r&sig=c2ln%3D';
const policy = (value: unknown) =>
  Buffer.from(JSON.stringify(value)).toString('base64').replaceAll('+', '-').replaceAll('=', '_').replaceAll('/', '~');
const CLOUDFRONT = 'Signature=abc~_&Key-Pair-Id=K2JCJMDEHXQW5F';
const lessThan = (seconds: unknown) => ({
  Statement: [{ Resource: 'https://d1.cloudfront.net/*', Condition: { DateLessThan: { 'AWS:EpochTime': seconds } } }],
});

test('reads date and duration of signature V4 of S3 and Google', () => {
  assert.equal(of(AMZ), at('2030-01-15T12:15:00Z'));
  assert.equal(of(AMZ.toLowerCase().replace('20300115t120000z', '20300115T120000Z')), at('2030-01-15T12:15:00Z'));
  assert.equal(of(`response-content-type=a&${AMZ}&x-id=GetObject`), at('2030-01-15T12:15:00Z'));
  assert.equal(of(GOOG), at('2030-01-22T12:00:00Z'));
});

test('reads the expiry second of signature V2 and of CloudFront', () => {
  assert.equal(of('AWSAccessKeyId=AKIAEXAMPLE&Signature=vjby%3D&Expires=1894708800'), 1_894_708_800_000);
  assert.equal(of('GoogleAccessId=a%40b.com&Expires=1894708800&Signature=vjby'), 1_894_708_800_000);
  assert.equal(of(`Expires=1894708800&${CLOUDFRONT}`), 1_894_708_800_000);
  assert.equal(of(`Policy=${policy(lessThan(1_894_708_800))}&${CLOUDFRONT}`), 1_894_708_800_000);
  // A page may use such a parameter without any signature.
  for (const query of ['Expires=1', 'Expires=1&Signature=a', 'expires=1&signature=a&AWSAccessKeyId=b']) {
    assert.equal(of(query), null, query);
  }
});

test('reads the day or time of an Azure shared access signature in every form', () => {
  const forms: [string, string][] = [
    ['2030-01-15', '2030-01-15T00:00:00Z'],
    ['2030-01-15T12:30Z', '2030-01-15T12:30:00Z'],
    ['2030-01-15T12:30:15Z', '2030-01-15T12:30:15Z'],
    ['2030-01-15T12:30:15.1234567Z', '2030-01-15T12:30:15.123Z'],
    ['2030-01-15T12:30:15%2B02:00', '2030-01-15T10:30:15Z'],
    ['2030-01-15T12:30:15+02:00', '2030-01-15T10:30:15Z'],
    ['2030-01-15T12:30-08:00', '2030-01-15T20:30:00Z'],
  ];
  for (const [se, moment] of forms) assert.equal(of(`${AZURE}&se=${se}`), at(moment), se);
  assert.equal(of(`${AZURE}&SE=2030-01-15`), at('2030-01-15T00:00:00Z'));
  // The key of a user delegation expires before the link that it signed.
  assert.equal(of(`${AZURE}&se=2030-01-20&ske=2030-01-16T00:00:00Z`), at('2030-01-16T00:00:00Z'));
  assert.equal(of(AZURE), null, 'its end is in a stored policy');
  assert.equal(of('se=2020-01-15'), null, 'it is not signed');
});

test('ignores invalid dates and duplicate parameters', () => {
  for (const query of [
    AMZ.replace('20300115T120000Z', '20300231T120000Z'),
    AMZ.replace('20300115T120000Z', '2030-01-15T12:00:00Z'),
    AMZ.replace('20300115T120000Z', '20300115T250000Z'),
    AMZ.replace('=900', '=-900'),
    AMZ.replace('=900', '=9e2'),
    AMZ.replace('=900', '='),
    AMZ.replace(/&X-Amz-Signature.*/, ''),
    `${AMZ}&x-amz-date=20000101T000000Z`,
    GOOG.replace('20300115T120000Z', 'soon'),
    'AWSAccessKeyId=a&Signature=b&Expires=tomorrow',
    'AWSAccessKeyId=a&Signature=b&Expires=1&Expires=2',
    `${AZURE}&se=2030-02-31`,
    `${AZURE}&se=2030-13-01T00:00:00Z`,
    `${AZURE}&se=2030-01-15T12:30:15+99:00`,
    `${AZURE}&se=never`,
    `Policy=${policy(lessThan('1894708800'))}&${CLOUDFRONT}`,
    `Policy=${policy(lessThan(-1))}&${CLOUDFRONT}`,
    `Policy=${policy({ Statement: [null] })}&${CLOUDFRONT}`,
    `Policy=${policy({ Statement: [{ Condition: { DateLessThan: null } }] })}&${CLOUDFRONT}`,
    `Policy=${policy([])}&${CLOUDFRONT}`,
    `Policy=${policy(null)}&${CLOUDFRONT}`,
    `Policy=%7B&${CLOUDFRONT}`,
    '',
  ]) {
    assert.equal(of(query), null, query);
  }
});

test('returns a time or null for any query', () => {
  const name = fc.constantFrom(
    ...['X-Amz-Date', 'X-Amz-Expires', 'X-Amz-Signature', 'X-Goog-Date', 'X-Goog-Expires', 'X-Goog-Signature'],
    ...['Expires', 'Signature', 'AWSAccessKeyId', 'GoogleAccessId', 'Key-Pair-Id', 'Policy', 'se', 'ske', 'sig'],
  );
  const value = fc.oneof(
    fc.string({ unit: 'grapheme' }),
    fc.nat().map(String),
    fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
    fc.json().map((text) => Buffer.from(text).toString('base64')),
    fc.stringMatching(/^\d{8}T\d{6}Z$/),
  );
  fc.assert(
    fc.property(fc.array(fc.tuple(name, value), { maxLength: 12 }), (pairs) => {
      const found = of(new URLSearchParams(pairs).toString());
      return found === null || Number.isFinite(found);
    }),
    { numRuns: 2000 },
  );
});
