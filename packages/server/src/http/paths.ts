import type { Operation } from '@runwire/contract/schemas';

export const COMPLETION_PATH = '/get_completion_v2';
/** Where signed forms are posted to. */
export const UPLOAD_PATH = '/uploads/:apiIntegrationId';
export const isUpload = (url: string | undefined): boolean =>
  url !== undefined && pattern(UPLOAD_PATH).test(pathOf(url));

/** Which methods a path would take; none where it is no path of ours. */
export function allowedMethods(operations: readonly Operation[], path: string): string[] {
  return operations.filter((operation) => pattern(operation.path).test(path)).map((operation) => operation.method);
}

const patterns = new Map<string, RegExp>();

function pattern(path: string): RegExp {
  let known = patterns.get(path);
  if (known === undefined) {
    known = new RegExp(`^${path.replace(/:[A-Za-z]+/g, '[^/]+')}$`);
    patterns.set(path, known);
  }
  return known;
}

/** The path as routes are found by it: decoded, without query and trailing slash. */
export function pathOf(url: string): string {
  const end = url.indexOf('?');
  const path = end === -1 ? url : url.slice(0, end);
  const bare = path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path;
  if (!bare.includes('%')) return bare;
  try {
    return decodeURIComponent(bare);
  } catch {
    return bare;
  }
}
