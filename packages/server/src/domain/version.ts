/** The version of the program; the API's own is in its description. */
export const VERSION = '0.1.0';
