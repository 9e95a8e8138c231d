import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ThirdParty } from './bundled-packages.ts';

const LINE = '-'.repeat(80);
/** The MIT licence, for packages that name it and contain neither a licence file nor its text. */
const MIT = `Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation
files (the "Software"), to deal in the Software without restriction, including without limitation the rights to use, copy,
modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit persons to whom the Software
is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE
WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR
COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE,
ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.`;

/** One section per package: its name, version and licence, and the text that the licence asks us to pass on. */
export const licenceTexts = (packages: readonly ThirdParty[]): string =>
  packages.map((one) => `${licenceHeading(one)}\n\n${licenceText(one)}\n`).join(`\n${LINE}\n\n`);

/** Joins such texts. A package that is in several of them appears once. */
export const joinLicences = (texts: readonly string[]): string =>
  [...new Set(texts.flatMap((text) => text.split(`\n${LINE}\n\n`)))].sort().join(`\n${LINE}\n\n`);

const licenceHeading = ({ name, version, license }: ThirdParty) => `${name} ${version} (${license})`;

function licenceText({ folder, name, license }: ThirdParty): string {
  const files = readdirSync(folder);
  const own = files.filter((file) => /^(licen[cs]e|copying|notice)([.-]|$)/i.test(file) && !/\.[jt]s$/.test(file));
  if (own.length > 0) return own.map((file) => readFileSync(join(folder, file), 'utf8').trim()).join('\n\n');
  const readme = files.find((file) => /^readme/i.test(file));
  const [quoted] = /(?:^Copyright .*\n+)?^Permission is hereby granted[\s\S]*/m.exec(
    readme === undefined ? '' : readFileSync(join(folder, readme), 'utf8'),
  ) ?? [undefined];
  if (quoted !== undefined) return quoted.trim();
  if (license === 'Apache-2.0') return 'The text of this licence is in the file LICENSE.';
  const { author } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const holder = typeof author === 'string' ? author : author?.name;
  if (license === 'MIT' && holder !== undefined) return `Copyright (c) ${holder}\n\n${MIT}`;
  throw new Error(`${name} has no text of its licence (${license}), and we know none for it.`);
}
