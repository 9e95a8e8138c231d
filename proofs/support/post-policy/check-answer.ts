import type { FormAnswer } from '@runwire/test-kit';
import { expectEqual, Shortfall } from '../proof.ts';
import type { BuiltForm, Place } from './build-form.ts';
import type { Expected } from './data.ts';

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

function element(xml: string, name: string): string | null {
  const text = new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1];
  return text?.replace(/&(\w+);/g, (_, entity: string) => ENTITIES[entity] ?? '') ?? null;
}

/** Throws a `Shortfall` that names the case where the answer is not the expected one. */
export function checkAnswer(id: string, answer: FormAnswer, expect: Expected, built: BuiltForm, place: Place): void {
  const { status, headers, body, code } = answer;
  const { extra = {} } = expect;
  if (status !== expect.status && status !== extra.alternative_status) {
    throw new Shortfall(`${id}: expected status ${expect.status}, found ${status} ${body.slice(0, 300)}.`);
  }
  if (expect.code !== undefined) expectEqual(`${id}: code`, code, expect.code);
  if (expect.message !== undefined) {
    const wanted = expect.message.replace('{REGION}', place.key.region);
    expectEqual(`${id}: message`, element(body, 'Message'), wanted);
  }
  if (status >= 400) {
    for (const name of ['Code', 'Message', 'RequestId', 'HostId']) {
      if (element(body, name) === null) throw new Shortfall(`${id}: expected <${name}>, found ${body.slice(0, 300)}.`);
    }
    expectEqual(`${id}: content type`, headers['content-type'], 'application/xml');
  }
  expectEqual(`${id}: CORS`, headers['access-control-allow-origin'], '*');
  if (extra.no_header !== undefined) {
    expectEqual(`${id}: ${extra.no_header}`, headers[extra.no_header.toLowerCase()], undefined);
  }
  checkHeaders(id, answer, extra.headers);
  checkXml(id, answer, extra, built, place);
  if (extra.location_query !== undefined) {
    const { searchParams } = new URL(String(headers.location));
    expectEqual(`${id}: query of the redirect`, [...searchParams.keys()], extra.location_query);
  }
  if (extra.body === 'empty') expectEqual(`${id}: body`, body, '');
}

type Extra = NonNullable<Expected['extra']>;

function checkHeaders(id: string, { headers }: FormAnswer, wanted: Extra['headers'] = []): void {
  if (!Array.isArray(wanted)) {
    for (const [name, value] of Object.entries(wanted))
      expectEqual(`${id}: ${name}`, headers[name.toLowerCase()], value);
    return;
  }
  for (const name of wanted) {
    if (headers[String(name).toLowerCase()] === undefined) throw new Shortfall(`${id}: expected ${name}, found none.`);
  }
}

function checkXml(id: string, { body, headers }: FormAnswer, extra: Extra, built: BuiltForm, place: Place): void {
  const { xml, children, xml_root: root } = extra;
  if (root !== undefined && !body.includes(`<${root}>`))
    throw new Shortfall(`${id}: expected <${root}>, found ${body}.`);
  for (const [name, value] of Object.entries(children ?? {})) {
    const wanted = name === 'Location' ? headers.location : value.replace('{BUCKET}', place.bucket);
    expectEqual(`${id}: <${name}>`, element(body, name), wanted);
  }
  if (!Array.isArray(xml)) {
    const credential = String(built.form.parts.find((part) => part.name === 'x-amz-credential')?.value);
    for (const [name, value] of Object.entries(xml ?? {})) {
      const wanted = value.replace('{CREDENTIAL}', credential).replace('{REGION}', place.key.region);
      expectEqual(`${id}: <${name}>`, element(body, name), wanted);
    }
    return;
  }
  for (const rule of xml as readonly string[]) {
    const name = rule.split(' ')[0] ?? '';
    const sent = built.form.parts.find((part) => part.name === 'policy')?.value;
    const wanted = rule.includes('sent signature') ? built.signature : rule.includes('policy field') ? sent : null;
    const found = element(body, name);
    if (found === null) throw new Shortfall(`${id}: expected <${name}>, found ${body.slice(0, 300)}.`);
    if (wanted !== null) expectEqual(`${id}: <${name}>`, found, wanted);
  }
}
