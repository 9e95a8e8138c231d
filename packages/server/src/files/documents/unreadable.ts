/** A file that cannot be read; the message is the end of a sentence about it, with what to do. */
export class Unreadable extends Error {
  override readonly name = 'Unreadable';
}
