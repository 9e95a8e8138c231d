import hljs from 'highlight.js/lib/core';
import bash from 'highlight.js/lib/languages/bash';
import json from 'highlight.js/lib/languages/json';
import python from 'highlight.js/lib/languages/python';
import typescript from 'highlight.js/lib/languages/typescript';
import yaml from 'highlight.js/lib/languages/yaml';
import type { CodeLanguage } from './code-language.ts';

/** A part of a code with one colour. */
export interface CodePiece {
  readonly text: string;
  /** Null for the colour of text. */
  readonly kind: CodeKind | null;
}

export type CodeKind = 'keyword' | 'string' | 'literal' | 'name' | 'comment';

/** The first parts of the scopes of highlight.js. */
const KINDS: Readonly<Record<string, CodeKind>> = {
  keyword: 'keyword',
  built_in: 'keyword',
  type: 'keyword',
  string: 'string',
  regexp: 'string',
  number: 'literal',
  literal: 'literal',
  symbol: 'literal',
  attr: 'name',
  title: 'name',
  property: 'name',
  variable: 'name',
  comment: 'comment',
  meta: 'comment',
};

/** Takes what highlight.js finds. Its own emitter makes HTML, which the policy of the pages refuses. */
class Pieces {
  readonly pieces: CodePiece[] = [];
  readonly #scopes: string[] = [];

  addText(text: string): void {
    if (text === '') return;
    const kind = KINDS[this.#scopes.at(-1)?.split('.')[0] ?? ''] ?? null;
    this.pieces.push({ text, kind });
  }

  startScope(name: string): void {
    this.#scopes.push(name);
  }

  endScope(): void {
    this.#scopes.pop();
  }

  openNode(name: string): void {
    this.startScope(name);
  }

  closeNode(): void {
    this.endScope();
  }

  __addSublanguage(other: Pieces): void {
    this.pieces.push(...other.pieces);
  }

  finalize(): void {}

  toHTML(): string {
    return '';
  }
}

const languages = { bash, json, python, typescript, yaml };
const highlighter = hljs.newInstance();
highlighter.configure({ __emitter: Pieces });
for (const [name, language] of Object.entries(languages)) highlighter.registerLanguage(name, language);

export function highlight(code: string, language: CodeLanguage): readonly CodePiece[] {
  const { _emitter } = highlighter.highlight(code, { language, ignoreIllegals: true });
  return (_emitter as unknown as Pieces).pieces;
}
