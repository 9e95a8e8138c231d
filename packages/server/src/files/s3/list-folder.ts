import type { S3Bucket, S3Object } from '../../storage/s3/s3-bucket.ts';

/** A name right below a folder; `object` is null where it is a folder itself. */
export interface NamedObject {
  readonly name: string;
  readonly object: S3Object | null;
}

const MOST_KEYS = 1000;

/**
 * The first `limit` names behind `after` that are names at all, in the order of their UTF-8 bytes, and whether there are
 * more: then there is one at least.
 *
 * S3 has another order: it lists a folder `a` as `a/`, and so behind the file `a!`, whose name is the greater one. What a
 * listing has not come to yet can thus belong before what it has: but only a folder whose name the last key begins with,
 * where a byte below `/` follows. These few are asked for one by one.
 */
export async function listFolder(
  bucket: S3Bucket,
  prefix: string,
  after: string | null,
  limit: number,
  isName: (name: string, isFile: boolean) => boolean,
): Promise<{ readonly names: readonly NamedObject[]; readonly hasMore: boolean }> {
  const found = new Map<string, S3Object | null>();
  const add = (name: string, object: S3Object | null) => {
    if (name === '' || (after !== null && compareNames(name, after) <= 0)) return;
    if (!isName(name, object !== null)) return;
    // A folder and a file of one name, from two forms at once: the file is shown, and when it is gone the folder.
    if (object !== null || !found.has(name)) found.set(name, object);
  };
  const start = after === null ? {} : { after: `${prefix}${after}` };
  let next: string | null | undefined;
  let last = '';
  while (next !== null && found.size <= limit) {
    const at = next === undefined ? start : { next };
    const page = await bucket.list({ prefix, delimiter: '/', limit: Math.min(limit + 1, MOST_KEYS), ...at });
    for (const object of page.objects) add(object.key.slice(prefix.length), object);
    for (const folder of page.folders) add(folder.slice(prefix.length, -1), null);
    const keys = [page.objects.at(-1)?.key, page.folders.at(-1)].filter((key) => key !== undefined);
    last = keys.toSorted(compareNames).at(-1)?.slice(prefix.length) ?? last;
    ({ next } = page);
  }
  if (next !== null) {
    const skipped = await Promise.all(
      earlierFolders(last).map(async (name) => ((await isFolder(bucket, `${prefix}${name}/`)) ? name : '')),
    );
    for (const name of skipped) add(name, null);
  }
  const names = [...found].map(([name, object]) => ({ name, object })).sort((a, b) => compareNames(a.name, b.name));
  return { names: names.slice(0, limit), hasMore: names.length > limit || next !== null };
}

export async function isFolder(bucket: S3Bucket, prefix: string): Promise<boolean> {
  return (await bucket.list({ prefix, limit: 1 })).objects.length > 0;
}

/** Folders that S3 lists behind this key, and whose names come before it. */
function earlierFolders(last: string): string[] {
  return [...last.matchAll(/[\x20-\x2e]/g)].map(({ index }) => last.slice(0, index)).filter((name) => name !== '');
}

function compareNames(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
