export { type Address, parseAddress, unmapped } from './address.ts';
export { type CheckedUrl, checkFetchUrl, urlKey } from './check-url.ts';
export { ALLOW_NOTHING, type FetchAllow, parseFetchAllow } from './fetch-allow.ts';
export { isPublicAddress } from './public-address.ts';
export { isWithin, parseRange, type Range } from './range.ts';
export { sameHostAndPath } from './same-place.ts';
