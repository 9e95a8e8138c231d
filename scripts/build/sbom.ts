import { Buffer } from 'node:buffer';
import type { ThirdParty } from './bundled-packages.ts';

/** A component of CycloneDX. Its `bom-ref` is its package URL. */
interface Component {
  readonly type: 'library' | 'application';
  readonly 'bom-ref': string;
  readonly name: string;
  readonly group?: string;
  readonly version: string;
  readonly licenses: readonly object[];
  readonly hashes?: readonly { readonly alg: 'SHA-512'; readonly content: string }[];
  readonly purl: string;
}

interface Dependency {
  readonly ref: string;
  readonly dependsOn: readonly string[];
}

/** A bill of materials, CycloneDX 1.6. It has no time and no serial number: the same sources give the same bytes. */
export interface Sbom {
  readonly bomFormat: 'CycloneDX';
  readonly specVersion: '1.6';
  readonly version: 1;
  readonly metadata: { readonly component: Component };
  readonly components: readonly Component[];
  readonly dependencies: readonly Dependency[];
}

/** One of our own packages. */
interface OwnPackage {
  readonly name: string;
  readonly version: string;
  readonly license: string;
}

function component({ name, version, license }: OwnPackage, type: Component['type']): Component {
  const [, group, own = name] = /^(@[^/]+)\/(.+)$/.exec(name) ?? [];
  const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`;
  return {
    type,
    'bom-ref': purl,
    ...(group === undefined ? {} : { group }),
    name: own,
    version,
    // `id` must be one licence of the list of SPDX. `BSD` is a name that is not in the list.
    licenses: [
      / (AND|OR) /.test(license)
        ? { expression: license }
        : { license: license === 'BSD' ? { name: license } : { id: license } },
    ],
    purl,
  };
}

function library(found: ThirdParty): Component {
  const content = Buffer.from(found.integrity.slice('sha512-'.length), 'base64').toString('hex');
  const { purl, ...rest } = component(found, 'library');
  return { ...rest, hashes: [{ alg: 'SHA-512', content }], purl };
}

/** One published package's bill: the packages that it contains, and the packages that npm installs with it. */
export function packageSbom(
  own: OwnPackage,
  contained: readonly ThirdParty[],
  installed: readonly OwnPackage[] = [],
): Sbom {
  const subject = component(own, 'application');
  const components = [...contained.map(library), ...installed.map((one) => component(one, 'library'))];
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: { component: subject },
    components,
    dependencies: [{ ref: subject['bom-ref'], dependsOn: components.map((one) => one['bom-ref']) }],
  };
}

/** A release's bill: all packages of others, and our own packages with what each contains. */
export function releaseSbom(release: OwnPackage, parts: readonly Sbom[]): Sbom {
  const subject = component(release, 'application');
  const own = parts.map(({ metadata }) => metadata.component);
  const known = new Map([...parts.flatMap(({ components }) => components), ...own].map((one) => [one['bom-ref'], one]));
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: { component: subject },
    components: [...known].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one),
    dependencies: [
      { ref: subject['bom-ref'], dependsOn: own.map((one) => one['bom-ref']) },
      ...parts.flatMap(({ dependencies }) => dependencies),
    ],
  };
}
