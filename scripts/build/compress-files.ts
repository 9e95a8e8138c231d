import { readdirSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress } from 'node:zlib';

/** The server compresses `index.html` itself, because it changes the base. */
const TEXTS = /\.(js|css|svg|md)$/;

/** Writes each text file of the folder once more, compressed with Brotli 11, the default: `<name>.br`. */
export async function compressFiles(folder: string): Promise<void> {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile() && TEXTS.test(entry.name));
  await Promise.all(
    paths.map(async ({ parentPath, name }) => {
      const path = join(parentPath, name);
      await writeFile(`${path}.br`, await promisify(brotliCompress)(await readFile(path)));
    }),
  );
}
