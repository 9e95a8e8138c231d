import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Guard } from './guard.ts';

/** Writes the current counts as the bounds that `guard.test.ts` compares with. */
await using guard = await Guard.start();
const text = `${JSON.stringify(await guard.measureBounds(), null, 2)}\n`;
writeFileSync(join(import.meta.dirname, 'count-bounds.json'), text);
process.stdout.write(text);
