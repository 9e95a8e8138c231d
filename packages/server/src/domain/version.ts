import packageJson from '../../package.json' with { type: 'json' };

/** The version of the program. The API's own version is in its description. */
export const VERSION: string = packageJson.version;
