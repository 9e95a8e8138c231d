/** The file cannot be read. The message is the end of a sentence about it and tells what to do. */
export class Unreadable extends Error {
  override readonly name = 'Unreadable';
}

export const TOO_COMPLEX =
  'is too complex: reading it needs more memory than one file may use; attach a simpler or shorter file';
