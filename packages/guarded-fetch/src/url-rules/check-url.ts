import { addressOfHost } from './address.ts';
import { type FetchAllow, HTTP_PORT, HTTPS_PORT } from './fetch-allow.ts';
import { WORDS } from './fetch-words.ts';
import { isPlainName } from './host-name.ts';
import { isPublicAddress } from './public-address.ts';

/** `problem` is the end of a sentence about the field with the URL. */
export type CheckedUrl = { readonly url: URL } | { readonly problem: string };

/** Checks a URL's text. Its host's addresses are checked later. */
export function checkFetchUrl(text: string, allow: FetchAllow): CheckedUrl {
  const { form } = WORDS[allow.purpose];
  const problem = shapeProblem(text, allow.allowsHttp, form);
  if (problem !== null) return { problem };
  const url = URL.parse(text);
  if (url === null) return { problem: form };
  const isPlain = url.protocol === 'http:';
  if (url.protocol !== 'https:' && !(isPlain && allow.allowsHttp)) return { problem: form };
  if (isPlain && !allow.mayAllowPort(url.hostname, getPort(url))) return { problem: form };
  const found = hostProblem(url.hostname, getPort(url), allow);
  return found === null ? { url } : { problem: found };
}

export const getPort = (url: URL): number => {
  if (url.port !== '') return Number(url.port);
  return url.protocol === 'http:' ? HTTP_PORT : HTTPS_PORT;
};

/** Origin and path identify an attachment. Other callers may see only this part of its URL. */
export const urlKey = (url: URL): string => `${url.origin}${url.pathname}`;

/**
 * URL parsers repair malformed text, each in another way: they drop white space, turn backslashes, add slashes. Text that
 * needs a repair is refused, so that no later parser can read another host from it.
 */
function shapeProblem(text: string, allowsHttp: boolean, form: string): string | null {
  if (!text.isWellFormed()) return 'contains half of a surrogate pair; send well-formed Unicode';
  if (/[\p{Cc}\p{Z}]/u.test(text)) return 'contains white space or control characters; percent-encode them';
  if (text.includes('\\')) return 'contains a backslash; percent-encode it';
  const [, authority] = (allowsHttp ? /^https?:\/\/([^/?#]+)/i : /^https:\/\/([^/?#]+)/i).exec(text) ?? [];
  if (authority === undefined) return form;
  if (authority.includes('@')) return 'contains a user name or a password; leave them out';
  if (/\p{Cf}/u.test(authority)) return 'has invisible characters in its host; leave them out';
  if (authority.includes('%')) return 'has a percent-encoded host; write it in plain characters';
  if (authority.endsWith(':')) return 'has a colon after its host; add the port, or leave out the colon';
  return null;
}

function hostProblem(hostname: string, port: number, allow: FetchAllow): string | null {
  const address = addressOfHost(hostname);
  if (address === null && !isPlainName(hostname)) {
    return hostname.endsWith('.')
      ? 'has a host that ends with a dot; leave the dot out'
      : 'has a host that is not a DNS name; check its spelling';
  }
  if (port !== HTTPS_PORT && !allow.mayAllowPort(hostname, port)) {
    return `has the port ${port}; ${WORDS[allow.purpose].port}, unless ${allow.setting} names another`;
  }
  if (address === null || isPublicAddress(address) || allow.mayAllowPort(hostname, port)) return null;
  return `has an address as its host that is not on the public internet; ${WORDS[allow.purpose].address} ${allow.setting}`;
}
