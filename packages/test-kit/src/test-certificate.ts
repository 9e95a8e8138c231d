import { generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { isIP } from 'node:net';

/**
 * Certificates for test servers, made in each process with Node alone, so the repository contains no private key.
 * X.509 as in RFC 5280, with the few fields that a client checks, signed with ECDSA over P-256.
 */

const DAY_MS = 86_400_000;

function der(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  const length: number[] = [];
  for (let left = content.length; left > 0; left >>>= 8) length.unshift(left & 0xff);
  const head = content.length < 0x80 ? [content.length] : [0x80 | length.length, ...length];
  return Buffer.concat([Buffer.from([tag, ...head]), content]);
}

const sequence = (...parts: readonly Uint8Array[]) => der(0x30, ...parts);
const integer = (bytes: Uint8Array) => der(0x02, bytes);
const bits = (bytes: Uint8Array, unused = 0) => der(0x03, Buffer.from([unused]), bytes);
const octets = (bytes: Uint8Array) => der(0x04, bytes);
const utf8 = (text: string) => der(0x0c, Buffer.from(text));
const time = (ms: number) => der(0x18, Buffer.from(new Date(ms).toISOString().replace(/[-:T]|\.\d+/g, '')));
const TRUE = der(0x01, Buffer.from([0xff]));

/** An object identifier, by its encoded content. */
const oid = (hex: string) => der(0x06, Buffer.from(hex, 'hex'));
const COMMON_NAME = oid('550403');
const ECDSA_WITH_SHA256 = sequence(oid('2a8648ce3d040302'));
const KEY_USAGE = oid('551d0f');
const SUBJECT_ALT_NAME = oid('551d11');
const BASIC_CONSTRAINTS = oid('551d13');

const getName = (commonName: string) => sequence(der(0x31, sequence(COMMON_NAME, utf8(commonName))));
const critical = (id: Uint8Array, value: Uint8Array) => sequence(id, TRUE, octets(value));

function altName(host: string): Buffer {
  if (isIP(host) === 4) return der(0x87, Buffer.from(host.split('.').map(Number)));
  return der(0x82, Buffer.from(host));
}

interface Holder {
  readonly name: string;
  readonly publicKey: KeyObject;
  readonly extensions: readonly Uint8Array[];
}

function certificate(holder: Holder, signer: { readonly name: string; readonly privateKey: KeyObject }): string {
  const content = sequence(
    der(0xa0, integer(Buffer.from([2]))),
    integer(Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    ECDSA_WITH_SHA256,
    getName(signer.name),
    sequence(time(Date.now() - DAY_MS), time(Date.now() + 30 * DAY_MS)),
    getName(holder.name),
    holder.publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(...holder.extensions)),
  );
  const signed = sequence(content, ECDSA_WITH_SHA256, bits(sign('sha256', content, signer.privateKey)));
  const lines = signed.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
}

export interface TestCertificate {
  /** The authority that a client is to trust, as PEM. */
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}

/** A server's certificate for these host names and IPv4 addresses, and the authority that signed it. */
export function testCertificate(hosts: readonly string[]): TestCertificate {
  const newKeys = () => generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const [authority, server] = [newKeys(), newKeys()];
  const signer = { name: `Runwire tests ${randomBytes(4).toString('hex')}`, privateKey: authority.privateKey };
  const authorityExtensions = [
    critical(BASIC_CONSTRAINTS, sequence(TRUE)),
    // Signs certificates: the sixth of eight bits.
    critical(KEY_USAGE, bits(Buffer.from([0x04]), 2)),
  ];
  const serverExtensions = [sequence(SUBJECT_ALT_NAME, octets(sequence(...hosts.map(altName))))];
  return {
    ca: certificate({ name: signer.name, publicKey: authority.publicKey, extensions: authorityExtensions }, signer),
    cert: certificate({ name: 'files', publicKey: server.publicKey, extensions: serverExtensions }, signer),
    key: server.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}
