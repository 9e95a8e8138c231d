/** The key of a folder's list. Without a folder: of all lists of the integration. */
export const filesKey = (integration: string, folder?: string): readonly string[] =>
  folder === undefined ? ['files', integration] : ['files', integration, folder];
