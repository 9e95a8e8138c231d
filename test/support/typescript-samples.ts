import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { listSamples, PACKAGE_PAGES } from './doc-samples.ts';

/** The code before and after a sample that the pages leave to the reader. */
const AROUND: Readonly<Record<string, readonly (readonly [string, string])[]>> = {
  'docs/tools.md': [
    ['const forecast = async (city: string, days: number, _: unknown) => [city, days].join();', ''],
    [
      `import { defineTool } from '@runwire/agency';
       import { z } from 'zod';
       const getHotels = async (city: string) => [city];
       const readHotel = async (hotel: string) => hotel;`,
      'export const agent = { name: "Guide", description: "Reads.", instructions: "Read.", tools: [readHotels] };',
    ],
    [
      `import { defineTool } from '@runwire/agency';
       import { tool } from 'ai';
       import { z } from 'zod';
       const inputSchema = z.object({ id: z.string() });
       const execute = async ({ id }: { readonly id: string }) => id;`,
      'export const agent = { name: "Clerk", description: "Pays.", instructions: "Pay.", tools: { refund, look_up: lookUp } };',
    ],
    ["import { defineAgent } from '@runwire/agency';", 'export const agent = clerk;'],
  ],
  'docs/state.md': [
    ['', ''],
    [
      "import { defineAgent } from '@runwire/agency';\nexport const agent = defineAgent({ name: 'A', description: 'B',",
      '});',
    ],
  ],
  'docs/conditions.md': [
    ['', 'export const agent = { name: "Desk", description: "Pays.", instructions: "Pay.", tools: [verify, refund] };'],
  ],
  'docs/models.md': [["import { defineAgent } from '@runwire/agency';\nexport const agent =", '']],
};

/**
 * Writes the documentation's samples in TypeScript to a folder of `.work`, with a `tsconfig.json`. Returns the files
 * that export an agency or an agent, and a test's sample.
 */
export function writeTypeScriptSamples(folder: string, include: readonly string[] = ['*.ts']) {
  const files: string[] = [];
  for (const [page, around] of Object.entries(AROUND)) {
    const samples = listSamples(page, 'ts');
    assert.equal(samples.length, around.length, `each sample of ${page} is compiled`);
    for (const [index, sample] of samples.entries()) {
      const [before, after] = around[index] ?? ['', ''];
      const file = join(folder, `${page.replace(/\W/g, '-')}-${index}.ts`);
      writeFileSync(file, `${before}\n${sample}\n${after}\n`);
      files.push(file);
    }
  }
  // The tests of these pages run them.
  for (const page of [
    'docs/client.md',
    'docs/openai-chat.md',
    'docs/openai.md',
    'docs/webhook-receivers.md',
    'packages/client/README.md',
    ...PACKAGE_PAGES,
  ]) {
    for (const [index, sample] of listSamples(page, 'ts').entries()) {
      writeFileSync(join(folder, `${page.replace(/\W/g, '-')}-${index}.ts`), sample);
    }
  }
  const sampleTest = join(folder, 'shop.test.ts');
  writeFileSync(sampleTest, listSamples('docs/testing.md', 'ts')[0] ?? '');
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ extends: '../../tsconfig.json', include }));
  return { files, sampleTest };
}
