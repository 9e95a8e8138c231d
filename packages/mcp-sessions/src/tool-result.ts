/*
 * What a server answers, as far as it is read here. These types are part of the package's own interface, so that its users need
 * no other package for its declarations.
 */

/** A part of a result. Newer protocol versions may have further ones. */
export type ResultPart =
  | { readonly type: 'text'; readonly text: string }
  /** `data` is base64. */
  | { readonly type: 'image' | 'audio'; readonly data: string; readonly mimeType: string }
  | {
      readonly type: 'resource';
      readonly resource:
        | { readonly uri: string; readonly text: string }
        | { readonly uri: string; readonly blob: string; readonly mimeType?: string | undefined };
    }
  | { readonly type: 'resource_link'; readonly name: string; readonly uri: string };

/** A call's result. */
export interface ToolResult {
  readonly content: readonly ResultPart[];
  readonly structuredContent?: unknown;
  readonly isError?: boolean | undefined;
}

/** A tool as a server lists it. */
export interface ListedTool {
  readonly name: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly inputSchema: Readonly<Record<string, unknown>>;
  readonly annotations?:
    | { readonly title?: string | undefined; readonly readOnlyHint?: boolean | undefined }
    | undefined;
  readonly execution?: { readonly taskSupport?: string | undefined } | undefined;
}
