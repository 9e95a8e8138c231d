/** The version of the program. The API description has its own version. */
export const VERSION = '0.1.0';
