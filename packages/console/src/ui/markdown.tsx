import { Lexer, type MarkedToken, type Token, type Tokens } from 'marked';
import { Fragment, memo, type ReactNode, useMemo } from 'react';
import { toCodeLanguage } from '../lib/code-language.ts';
import { formatNumber } from '../lib/format.ts';
import {
  type BlockSplitter,
  followableAddress,
  getCodeFence,
  isPlain,
  MAX_SHOWN_CHARACTERS,
  splitBlocks,
} from '../lib/markdown-blocks.ts';
import { CodeBlock } from './code-block.tsx';
import { CopyButton } from './copy-button.tsx';
import './markdown.css';

/** Text of a model or a person. It becomes elements, never HTML, and nothing is fetched for it. */
export function Markdown({ text }: { readonly text: string }) {
  const splitter = useMemo(() => (text.length > MAX_SHOWN_CHARACTERS ? null : splitBlocks(text)), [text]);
  if (splitter !== null) return <MarkdownBlocks splitter={splitter} length={splitter.length} />;
  return (
    <div className="markdown">
      <pre className="markdown-plain">{text.slice(0, MAX_SHOWN_CHARACTERS)}</pre>
      <LeftOut length={text.length} />
      <div>
        <CopyButton text={text} label="Copy the whole text" />
      </div>
    </div>
  );
}

interface MarkdownBlocksProps {
  readonly splitter: BlockSplitter;
  /** `splitter.length`: the splitter itself stays the same object while text arrives. */
  readonly length: number;
}

/** Text that may still grow. Finished blocks are not rendered again. */
export function MarkdownBlocks({ splitter, length }: MarkdownBlocksProps) {
  return (
    <div className="markdown">
      {splitter.blocks().map((block, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: blocks are only added at the end.
        <Block key={index} text={block} />
      ))}
      <LeftOut length={length} />
    </div>
  );
}

function LeftOut({ length }: { readonly length: number }) {
  if (length <= MAX_SHOWN_CHARACTERS) return null;
  return <p className="muted">{formatNumber(length - MAX_SHOWN_CHARACTERS)} more characters are not shown.</p>;
}

const Block = memo(function Block({ text }: { readonly text: string }) {
  const fence = getCodeFence(text);
  if (fence !== null) return <Code {...fence} />;
  const tokens = isPlain(text) ? null : lex(text);
  if (tokens === null) return <p className="markdown-plain">{text}</p>;
  return <>{render(tokens)}</>;
});

/** Returns null if the text is nested too deeply for the lexer. */
function lex(text: string): readonly Token[] | null {
  try {
    return new Lexer({ gfm: true }).lex(text);
  } catch {
    return null;
  }
}

function Code({ code, language }: { readonly code: string; readonly language: string }) {
  const label = language === '' ? 'code' : `${language.slice(0, 30)} code`;
  return <CodeBlock code={code} label={label} language={toCodeLanguage(language)} isRepeated />;
}

const render = (tokens: readonly Token[] | undefined): ReactNode =>
  // biome-ignore lint/suspicious/noArrayIndexKey: a text's tokens have no other identity.
  tokens?.map((token, index) => <Fragment key={index}>{element(token as MarkedToken)}</Fragment>);

function element(token: MarkedToken): ReactNode {
  switch (token.type) {
    case 'paragraph':
      return <p>{render(token.tokens)}</p>;
    case 'heading':
      return <Heading depth={token.depth}>{render(token.tokens)}</Heading>;
    case 'code':
      return <Code code={token.text} language={token.lang ?? ''} />;
    case 'list':
      return <List list={token as Tokens.List} />;
    case 'blockquote':
      return <blockquote>{render(token.tokens)}</blockquote>;
    case 'table':
      return <Table table={token as Tokens.Table} />;
    case 'hr':
      return <hr />;
    case 'br':
      return <br />;
    case 'strong':
      return <strong>{render(token.tokens)}</strong>;
    case 'em':
      return <em>{render(token.tokens)}</em>;
    case 'del':
      return <del>{render(token.tokens)}</del>;
    case 'codespan':
      return <code>{token.text}</code>;
    case 'link':
      return <Address address={token.href}>{render(token.tokens.map(withoutLink))}</Address>;
    case 'image':
      return <Address address={token.href}>{nameOfImage(token)}</Address>;
    case 'checkbox':
      return token.checked ? '☑ ' : '☐ ';
    case 'text':
      return token.tokens === undefined ? token.text : render(token.tokens);
    case 'escape':
      return token.text;
    case 'space':
      return null;
    default:
      // HTML, and definitions of links.
      return token.raw;
  }
}

const nameOfImage = ({ text, href }: Tokens.Image): string => (text === '' ? href : `Image: ${text}`);

/** An image in a link is only its name, because a link cannot contain another. */
function withoutLink(token: Token): Token {
  if (token.type !== 'image') return token;
  const text = nameOfImage(token as Tokens.Image);
  return { type: 'text', raw: text, text };
}

const HEADINGS = ['h3', 'h4', 'h5', 'h6'] as const;

/** The titles of the page and its sections are above those of a text. */
function Heading({ depth, children }: { readonly depth: number; readonly children: ReactNode }) {
  const Level = HEADINGS[Math.min(depth, HEADINGS.length) - 1] ?? 'h6';
  return <Level>{children}</Level>;
}

function List({ list }: { readonly list: Tokens.List }) {
  const items = list.items.map((item, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: a text's tokens have no other identity.
    <li key={index} className={item.task ? 'markdown-task' : undefined}>
      {render(item.tokens)}
    </li>
  ));
  return list.ordered ? <ol start={Number(list.start)}>{items}</ol> : <ul>{items}</ul>;
}

function Table({ table }: { readonly table: Tokens.Table }) {
  const cells = (row: readonly Tokens.TableCell[], Cell: 'th' | 'td') =>
    row.map(({ tokens, align }, index) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: a text's tokens have no other identity.
      <Cell key={index} className={align === 'right' ? 'end' : undefined}>
        {render(tokens)}
      </Cell>
    ));
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard.
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is a part of a form.
    <section className="markdown-table" tabIndex={0} aria-label="Table" role="group">
      <table>
        <thead>
          <tr>{cells(table.header, 'th')}</tr>
        </thead>
        <tbody>
          {table.rows.map((row, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a text's tokens have no other identity.
            <tr key={index}>{cells(row, 'td')}</tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

/** A link that may be followed, with its address to be read before; otherwise its text and address. */
function Address({ address, children }: { readonly address: string; readonly children: ReactNode }) {
  const href = followableAddress(address);
  if (href === null) {
    return (
      <>
        {children} <span className="muted">({address})</span>
      </>
    );
  }
  return (
    <a href={href} title={href} target="_blank" rel="noopener noreferrer nofollow">
      {children}
    </a>
  );
}
