import type { Operation } from '@runwire/contract/schemas';

export const COMPLETION_PATH = '/get_completion_v2';
/** The path that signed forms are posted to. */
export const UPLOAD_PATH = '/uploads/:apiIntegrationId';
export const isUpload = (url: string | undefined): boolean =>
  url !== undefined && pattern(UPLOAD_PATH).test(getPath(url));

/** Returns the operations at a path; empty if the path is unknown. */
export function operationsAt(operations: readonly Operation[], path: string): Operation[] {
  return operations.filter((operation) => pattern(operation.path).test(path));
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

/**
 * Returns the request target as a path. A proxy sends the absolute form (`GET http://host/v2/me`), which behaves like
 * the path alone. Its host is ignored; the `Host` header counts.
 */
export function originForm(target: string): string {
  if (target.charCodeAt(0) === SLASH) return target;
  const afterAuthority = /^[a-z][a-z\d+.-]*:\/\/[^/?#]*/i.exec(target)?.[0].length;
  if (afterAuthority === undefined) return target;
  const rest = target.slice(afterAuthority);
  return rest.startsWith('/') ? rest : `/${rest}`;
}

const SLASH = 47;

/** The path by which routes are matched: decoded, without query and trailing slash. An encoded slash stays encoded. */
export function getPath(target: string): string {
  const [path = ''] = originForm(target).split(/[?#]/, 1);
  const bare = path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path;
  if (!bare.includes('%')) return bare;
  try {
    return decodeURIComponent(bare.replace(/%2f/gi, '%252F'));
  } catch {
    return bare;
  }
}
