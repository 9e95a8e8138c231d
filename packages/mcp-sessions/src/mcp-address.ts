/**
 * How to reach an MCP server, with all values put in. `secrets` are the values of variables, which may be in any part; no error
 * shows them.
 */
export type McpAddress =
  | {
      readonly kind: 'http';
      readonly url: string;
      readonly headers: Readonly<Record<string, string>>;
      /** Null if the server needs no token, or gets it in `headers`. */
      readonly oauth: McpOAuth | null;
      readonly secrets: readonly string[];
    }
  | {
      readonly kind: 'stdio';
      readonly command: string;
      readonly args: readonly string[];
      /** Besides the variables that every server gets. */
      readonly env: Readonly<Record<string, string>>;
      /** Null if the program starts in this process's folder. */
      readonly cwd: string | null;
      readonly secrets: readonly string[];
    };

/** OAuth client credentials. */
export interface McpOAuth {
  readonly clientId: string;
  readonly clientSecret: string;
  readonly scope: string | null;
  /** The authorization server that gets the secret. If null, the MCP server names it. */
  readonly issuer: string | null;
}
