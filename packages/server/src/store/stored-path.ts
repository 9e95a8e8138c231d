import type { CheckedText } from '../domain/checked-text.ts';

/**
 * A path's segments below `/app/mnt`, each with U+0001 before it. No name contains that character, and it is less
 * than every character of a name, so the order of the rows is the order of a listing.
 */
export type StoredPath = CheckedText<'StoredPath'>;
