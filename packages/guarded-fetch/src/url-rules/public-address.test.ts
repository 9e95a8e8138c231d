import assert from 'node:assert/strict';
import { BlockList } from 'node:net';
import { test } from 'node:test';
import fc from 'fast-check';
import { type Address, addressOfHost, parseAddress } from './address.ts';
import { checkFetchUrl } from './check-url.ts';
import { ALLOW_NOTHING } from './fetch-allow.ts';
import { isPublicAddress } from './public-address.ts';
import { isWithin, parseRange } from './range.ts';

const isPublic = (text: string): boolean => {
  const address = parseAddress(text);
  assert.ok(address !== null, `${text} is an address`);
  return isPublicAddress(address);
};

/** Base and prefix of the well-known blocks that no file may be fetched from. */
const PRIVATE_IPV4: readonly (readonly [string, number])[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
];

const getNumber = (dotted: string): number => dotted.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);
const toBytes = (value: number): number[] => [24, 16, 8, 0].map((shift) => (value >>> shift) & 255);
const dotted = (value: number): string => toBytes(value).join('.');

const privateIpv4 = fc
  .constantFrom(...PRIVATE_IPV4)
  .chain(([base, prefix]) => fc.nat(2 ** (32 - prefix) - 1).map((host) => getNumber(base) + host));

const listed = new BlockList();
for (const [base, prefix] of PRIVATE_IPV4) listed.addSubnet(base, prefix);
for (const base of ['192.31.196.0', '192.52.193.0', '192.175.48.0']) listed.addSubnet(base, 24);
listed.addAddress('168.63.129.16');
const publicIpv4 = fc.nat(2 ** 32 - 1).filter((value) => !listed.check(dotted(value)));

const part = (value: number) =>
  fc.constantFrom(`${value}`, `0x${value.toString(16)}`, `0X00${value.toString(16)}`, `0${value.toString(8)}`);
/**
 * Every spelling of an IPv4 address in a URL: 1 to 4 parts, each decimal, hexadecimal or octal, wide digits and dots.
 */
const notation = (value: number): fc.Arbitrary<string> => {
  const bytes = toBytes(value);
  const tails = [1, 2, 3, 4].map((count) => {
    const tail = bytes.slice(count - 1).reduce((sum, byte) => sum * 256 + byte, 0);
    return [...bytes.slice(0, count - 1), tail];
  });
  const plain = fc
    .constantFrom(...tails)
    .chain((parts) => fc.tuple(...parts.map(part)).map((texts) => texts.join('.')));
  const wide = plain.map((text) => text.replace(/\d/g, (digit) => String.fromCodePoint(0xff10 + Number(digit))));
  return fc.oneof(
    plain,
    plain.map((text) => text.replaceAll('.', '。')),
    wide,
  );
};

const hex = (value: number) => `${(value >>> 16).toString(16)}:${(value & 0xffff).toString(16)}`;
/** Every IPv6 form that contains an IPv4 address. */
const CARRIERS: readonly ((value: number) => string)[] = [
  (value) => `::ffff:${dotted(value)}`,
  (value) => `0:0:0:0:0:FFFF:${hex(value)}`,
  (value) => `::${dotted(value)}`,
  (value) => `::ffff:0:${dotted(value)}`,
  (value) => `64:ff9b::${dotted(value)}`,
  (value) => `64:ff9b:1::${hex(value)}`,
  (value) => `2002:${hex(value)}::1`,
  (value) => `2001:0:1:2:3:4:${hex(~value >>> 0)}`,
  (value) => `2606:4700::5efe:${hex(value)}`,
  (value) => `2606:4700::200:5efe:${hex(value)}`,
  (value) => `fe80::5efe:${hex(value)}`,
];

test('refuses private IPv4 addresses in any notation', () => {
  const spelled = privateIpv4.chain((value) => fc.tuple(fc.constant(value), notation(value)));
  fc.assert(
    fc.property(spelled, ([value, host]) => {
      assert.equal(new URL(`https://${host}/`).hostname, dotted(value));
      assert.equal(isPublic(dotted(value)), false);
      assert.ok('problem' in checkFetchUrl(`https://${host}/a.png`, ALLOW_NOTHING), host);
    }),
    { numRuns: 2000 },
  );
});

test('refuses private IPv4 addresses in any IPv6 form that contains them', () => {
  fc.assert(
    fc.property(privateIpv4, fc.constantFrom(...CARRIERS), (value, carry) => {
      assert.equal(isPublic(carry(value)), false, carry(value));
      assert.ok('problem' in checkFetchUrl(`https://[${carry(value)}]/`, ALLOW_NOTHING));
    }),
    { numRuns: 2000 },
  );
});

test('accepts public IPv4 addresses in any notation, mapped and by NAT64', () => {
  const spelled = publicIpv4.chain((value) => fc.tuple(fc.constant(value), notation(value)));
  fc.assert(
    fc.property(spelled, ([value, host]) => {
      assert.ok('url' in checkFetchUrl(`https://${host}/`, ALLOW_NOTHING), host);
      for (const form of [dotted(value), `::ffff:${dotted(value)}`, `64:ff9b::${hex(value)}`]) {
        assert.equal(isPublic(form), true, form);
      }
    }),
    { numRuns: 2000 },
  );
});

test('accepts only global unicast of IPv6', () => {
  const groups = fc.array(fc.nat(0xffff), { minLength: 7, maxLength: 7 });
  const written = (first: number, rest: readonly number[]) =>
    [first, ...rest].map((group) => group.toString(16)).join(':');
  const outside = fc.nat(0xffff).filter((first) => first >> 13 !== 1 && first !== 0x64);
  fc.assert(fc.property(outside, groups, (first, rest) => !isPublic(written(first, rest))));
  const inside = fc.integer({ min: 0x2003, max: 0x3ffd }).filter((first) => first !== 0x2620);
  const plain = groups.filter((rest) => rest[4] !== 0x5efe);
  fc.assert(fc.property(inside, plain, (first, rest) => isPublic(written(first, rest))));
});

test('the limits of special blocks agree with the registries', () => {
  const outside = ['9.255.255.255', '11.0.0.1', '100.63.255.255', '100.128.0.1', '126.255.255.255', '128.0.0.1'];
  outside.push('169.253.255.255', '169.255.0.1', '172.15.255.255', '172.32.0.1', '192.0.1.0', '192.167.255.255');
  outside.push('198.17.255.255', '198.20.0.1', '223.255.255.255', '168.63.129.15', '168.63.129.17', '1.1.1.1');
  outside.push('2001:200::1', '2001:4860:4860::8888', '2003::1', '2606:4700::1111', '2a00:1450::1', '3ffd::1');
  for (const text of outside) assert.equal(isPublic(text), true, text);
  const inside = ['168.63.129.16', '192.0.0.9', '192.0.0.192', '100.100.100.200', '255.255.255.255', '::', '::1'];
  inside.push('64:ff9b:1::1', '100::1', '100:0:0:1::1', '2001::1', '2001:2::1', '2001:1ff:ffff::1', '2001:db8::1');
  inside.push('2002::1', '2620:4f:8000::1', '3fff::1', '3fff:fff::1', '4000::1', '5f00::1', 'fc00::1', 'fec0::1');
  for (const text of inside) assert.equal(isPublic(text), false, text);
});

test('reads addresses and ranges as Node does', () => {
  // Node's list treats mapped IPv4 as IPv4.
  const ipv6 = fc.ipV6().filter((text) => (parseAddress(text)?.value ?? 0n) >> 32n !== 0xffffn);
  const ipv4 = fc.nat(2 ** 32 - 1).map(dotted);
  for (const [family, addresses, bits] of [
    ['ipv4', ipv4, 32],
    ['ipv6', ipv6, 128],
  ] as const) {
    fc.assert(
      fc.property(addresses, addresses, fc.nat(bits), (one, other, prefix) => {
        const list = new BlockList();
        list.addSubnet(one, prefix, family);
        for (const address of [one, other]) {
          const range = { base: parseAddress(one) as Address, prefix };
          assert.equal(isWithin(parseAddress(address) as Address, range), list.check(address, family));
        }
      }),
    );
  }
});

test('accepts only valid addresses', () => {
  for (const text of [
    '',
    '1',
    '1.2.3',
    '1.2.3.4.5',
    '01.2.3.4',
    '1.2.3.256',
    'fe80::1%eth0',
    '::1::',
    'a.test',
    '[::1]',
  ]) {
    assert.equal(parseAddress(text), null, text);
  }
  assert.deepEqual(addressOfHost('[::ffff:1.2.3.4]'), { bits: 128, value: 0xffff_0102_0304n });
  assert.deepEqual(parseAddress('1:2:3:4:5:6:7:8'), { bits: 128, value: 0x0001_0002_0003_0004_0005_0006_0007_0008n });
  for (const text of [
    '10.0.0.1/8',
    '10.0.0.0/33',
    '10.0.0.0/08',
    '10.0.0.0/',
    '10.0.0.0',
    'fd00::1/8',
    '10.0.0.0/8/8',
    'a/8',
  ]) {
    assert.equal(parseRange(text), null, text);
  }
});
