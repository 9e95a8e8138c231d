/** Paths in a command's folder are bytes, because a command can make names that are not UTF-8. */

/** Returns the path of an entry whose name was read as Latin-1, which keeps all bytes. */
export const childPath = (folder: Buffer, name: string): Buffer =>
  Buffer.concat([folder, Buffer.from('/'), Buffer.from(name, 'latin1')]);

/** True if the rights of a folder or file forbid the call. A command can take them away from their owner. */
export const isDenied = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'EACCES';
