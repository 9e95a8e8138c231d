import { cpSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build, type Plugin } from 'esbuild';
import { bundledPackages, type ThirdParty } from './bundled-packages.ts';
import { licenceTexts } from './licences.ts';
import type { PublishedPackage } from './packages.ts';
import { precompiledModule } from './precompile-validators.ts';

/**
 * Modules of CommonJS that are part of a bundle ask for Node's own modules by `require`. The other name is free in every
 * module: some import `createRequire` themselves.
 */
const REQUIRE =
  "import { createRequire as requireOfBundle } from 'node:module';\nconst require = requireOfBundle(import.meta.url);";

/** Optional packages of just-bash that are never installed (docs/licences.md). Without them it refuses zstd and xz. */
const NATIVE = ['@mongodb-js/zstd', 'node-liblzma'];

const withPrecompiledValidators: Plugin = {
  name: 'precompiled-validators',
  setup({ onLoad }) {
    onLoad({ filter: /\/http\/precompiled-validators\.ts$/ }, () => ({ contents: precompiledModule(), loader: 'js' }));
  },
};

/** A built package's folder, and the packages of others whose code is in it. */
interface Bundle {
  readonly dist: string;
  readonly bundled: readonly ThirdParty[];
}

/** Writes a package's code to its `dist/`: a bundle for each of its files, chunks that they share, and all licences. */
export async function bundle({
  folder,
  files,
  needs,
  copies = {},
  isPortable = false,
  loadsOn = 'node26',
}: PublishedPackage): Promise<Bundle> {
  const root = join('packages', folder);
  const dist = join(root, 'dist');
  // Chunks are named by their content: those of an earlier build would stay.
  rmSync(dist, { recursive: true, force: true });
  const { metafile } = await build({
    entryPoints: Object.entries(files).map(([out, source]) => ({ in: join(root, 'src', source), out })),
    outdir: dist,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: isPortable ? 'neutral' : 'node',
    target: isPortable ? 'es2022' : loadsOn,
    conditions: ['runwire'],
    // Modules of their own kind, if a package has both: the CommonJS form of the S3 client hides its exports from a bundle.
    mainFields: ['module', 'main'],
    external: [...needs, ...NATIVE],
    banner: isPortable ? {} : { js: REQUIRE },
    plugins: [withPrecompiledValidators],
    // Names and lines stay readable: stacks in logs are for people.
    minify: false,
    metafile: true,
    logLevel: 'warning',
  });
  for (const [from, to] of Object.entries(copies)) cpSync(from, join(dist, to), { recursive: true });
  const bundled = bundledPackages(metafile, copies);
  if (bundled.length > 0) writeFileSync(join(dist, 'THIRD-PARTY-LICENSES.txt'), licenceTexts(bundled));
  return { dist, bundled };
}
