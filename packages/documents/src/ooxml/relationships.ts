import { posix } from 'node:path';
import { readXml } from './xml-events.ts';
import type { ZipArchive } from './zip-archive.ts';

export interface Relationship {
  readonly id: string;
  /** The end of the type, such as `worksheet`. The part before it differs between the two forms of the standard. */
  readonly type: string;
  readonly part: string;
}

/** Returns a part's relationships. The part `''` is the whole package. */
export function getRelationships(zip: ZipArchive, part: string): readonly Relationship[] {
  const folder = posix.dirname(part);
  const xml = zip.read(posix.join(folder, '_rels', `${posix.basename(part)}.rels`));
  const found: Relationship[] = [];
  if (xml === null) return found;
  readXml(xml, {
    open(name, { Id, Type, Target, TargetMode }) {
      if (name !== 'Relationship' || Id === undefined || Target === undefined || TargetMode === 'External') return;
      const target = Target.startsWith('/') ? Target.slice(1) : posix.join(folder, Target);
      found.push({ id: Id, type: Type?.split('/').at(-1) ?? '', part: target });
    },
  });
  return found;
}

export const partOfType = (relationships: readonly Relationship[], type: string): string | null =>
  relationships.find((relationship) => relationship.type === type)?.part ?? null;
