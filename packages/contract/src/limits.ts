/** The largest file that is taken, in bytes. */
export const maxFileBytes = 20_971_520;
