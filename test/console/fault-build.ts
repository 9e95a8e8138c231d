import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { build, type Plugin } from 'vite';

const CONSOLE = resolve(import.meta.dirname, '../../packages/console');

/** A change of one source file of the console, so that a planted fault needs no code in the product. */
export interface SourceChange {
  /** From `packages/console/src`. */
  readonly file: string;
  /** Must be in the file exactly once. */
  readonly text: string;
  readonly by: string;
}

/** The built files of the console in a temporary folder, which is deleted at the end. */
export class BuiltConsole implements Disposable {
  readonly folder = mkdtempSync(join(tmpdir(), 'runwire-console-'));

  /** Builds the console with these changes. Rejects if a text was not found exactly once. */
  static async build(...changes: readonly SourceChange[]): Promise<BuiltConsole> {
    const built = new BuiltConsole();
    try {
      const left = new Set(changes);
      await build({
        root: CONSOLE,
        configFile: join(CONSOLE, 'vite.config.ts'),
        configLoader: 'native',
        logLevel: 'error',
        plugins: [changing(changes, left)],
        build: { outDir: built.folder, emptyOutDir: true },
      });
      for (const { file } of left) throw new Error(`${file} is not part of the console.`);
      return built;
    } catch (error) {
      built[Symbol.dispose]();
      throw error;
    }
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Removes each change that it made from `left`. */
function changing(changes: readonly SourceChange[], left: Set<SourceChange>): Plugin {
  return {
    name: 'planted-fault',
    enforce: 'pre',
    transform(code, id) {
      let changed = code;
      for (const change of changes) {
        if (id !== join(CONSOLE, 'src', change.file)) continue;
        const found = changed.split(change.text).length - 1;
        if (found !== 1)
          throw new Error(`${change.file}: expected the text once, found ${found} times: ${change.text}`);
        changed = changed.replace(change.text, () => change.by);
        left.delete(change);
      }
      return changed === code ? null : changed;
    },
  };
}
