/** The console's address, with a slash at its end. The server sets `<base>` in every page. */
export const consoleUrl = new URL('./', document.baseURI);

/** The API's address. */
export const apiUrl = new URL('../', consoleUrl);

/** The address that people write into their programs: without a slash at its end. */
export const publicApiUrl = apiUrl.href.replace(/\/$/, '');
