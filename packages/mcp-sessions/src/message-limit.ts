/** A message of a server may have this many bytes. */
export const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;
