import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';
import type { Sbom } from '../build/sbom.ts';

const SCHEMAS = join(import.meta.dirname, '../../node_modules/@cyclonedx/cyclonedx-library/res/schema');
const readSchema = (name: string) => JSON.parse(readFileSync(join(SCHEMAS, `${name}.SNAPSHOT.schema.json`), 'utf8'));

/** Returns a check of bills of materials: against the schema of CycloneDX 1.6, and whether each reference has a component. */
export function sbomChecker(): (sbom: Sbom) => string[] {
  const ajv = new Ajv({ strict: false, allErrors: true });
  (addFormats as unknown as typeof addFormats.default)(ajv);
  // The two formats that `ajv-formats` does not know. We write no addresses of the web and no e-mail addresses.
  ajv.addFormat('iri-reference', true).addFormat('idn-email', true);
  // The library renamed its files, and the references, but not the ids.
  for (const name of ['spdx', 'jsf-0.82'])
    ajv.addSchema({ ...readSchema(name), $id: `http://cyclonedx.org/schema/${name}.SNAPSHOT.schema.json` });
  const validate = ajv.compile(readSchema('bom-1.6'));
  return (sbom) => {
    if (!validate(sbom))
      return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
    const known = new Set([sbom.metadata.component, ...sbom.components].map((one) => one['bom-ref']));
    const references = sbom.dependencies.flatMap(({ ref, dependsOn }) => [ref, ...dependsOn]);
    return references.filter((ref) => !known.has(ref)).map((ref) => `${ref} is no component`);
  };
}
