import type { Usage } from '../usage.ts';

/** A part of the answer of a model. */
export type ScriptedPart =
  | { readonly kind: 'text' | 'reasoning' | 'refusal'; readonly deltas: readonly string[] }
  | { readonly kind: 'calls'; readonly calls: readonly (readonly [callId: string, name: string, args: string])[] };

export interface StreamScript {
  readonly parts: readonly ScriptedPart[];
  readonly usage?: Usage | null;
  /** How the stream ends; `none` if it does not end. */
  readonly end?: 'whole' | 'length' | 'content_filter' | 'error' | 'none';
}
