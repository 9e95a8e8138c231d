/** Maximum size of a file, in bytes. */
export const maxFileBytes = 20_971_520;
