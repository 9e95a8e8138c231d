import { hash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { publishedPackages } from '../build/packages.ts';
import { capture } from './run.ts';

/** A file that is uploaded to a registry. */
export interface PackedFile {
  readonly name: string;
  readonly version: string;
  readonly path: string;
  readonly bytes: number;
  /** As npm writes it: `sha512-` and the digest in base64. */
  readonly integrity: string;
  readonly files: readonly { readonly path: string; readonly size: number }[];
}

interface NpmPacked extends Omit<PackedFile, 'path' | 'bytes'> {
  readonly filename: string;
  readonly size: number;
}

/** Packs the built packages of npm into a folder, in an order in which each is after the packages that it depends on. */
export function packPackages(folder: string): PackedFile[] {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const dists = publishedPackages.map(({ folder: name }) => `./packages/${name}/dist`);
  const printed = capture('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', folder, ...dists]);
  return (JSON.parse(printed) as NpmPacked[]).map(({ filename, size, ...packed }) => ({
    ...packed,
    path: join(folder, filename),
    bytes: size,
  }));
}

const BUILD = `import sys, tarfile, zipfile, json
import build_backend
wheel = build_backend.build_wheel(sys.argv[1])
sdist = build_backend.build_sdist(sys.argv[1])
with zipfile.ZipFile(f"{sys.argv[1]}/{wheel}") as archive:
    files = {wheel: [{"path": one.filename, "size": one.file_size} for one in archive.infolist()]}
with tarfile.open(f"{sys.argv[1]}/{sdist}") as archive:
    files[sdist] = [{"path": one.name, "size": one.size} for one in archive.getmembers()]
print(json.dumps(files))`;

/** Builds the wheel and the source archive of the Python client into a folder. */
export function packPython(folder: string, root = '.'): PackedFile[] {
  mkdirSync(folder, { recursive: true });
  const printed = capture('python3', ['-B', '-c', BUILD, resolve(folder)], join(root, 'packages/client-python'));
  const packed: Record<string, PackedFile['files']> = JSON.parse(printed);
  return Object.entries(packed).map(([file, files]) => {
    const path = join(folder, file);
    const [name = '', version = ''] = file.replace(/\.tar\.gz$/, '').split('-');
    const integrity = `sha512-${hash('sha512', readFileSync(path), 'base64')}`;
    return { name, version, path, bytes: statSync(path).size, integrity, files };
  });
}
