import type { ReactNode } from 'react';
import { formatCount } from '../lib/format.ts';
import { CodeBlock } from './code-block.tsx';
import { CopyButton } from './copy-button.tsx';
import './json-view.css';

interface JsonViewProps {
  readonly text: string;
  readonly label: string;
  /** True if the page can have several with the same label. They are no landmarks then. */
  readonly isRepeated?: boolean;
}

/** Deeper values are folded at the start. */
const OPEN_DEPTH = 2;
/** More members make the page slow. The copied text has all of them. */
const MAX_MEMBERS = 200;
const MAX_CHARACTERS = 50_000;

/** JSON as a tree whose parts can be folded. Other text, and very long JSON, is shown as it is. */
export function JsonView({ text, label, isRepeated = false }: JsonViewProps) {
  const value = text.length > MAX_CHARACTERS ? undefined : readTree(text);
  if (value === undefined) return <CodeBlock code={text} label={label} isRepeated={isRepeated} />;
  return (
    <div className="code code-copy">
      {/* A region that scrolls must be reachable by keyboard. */}
      <section tabIndex={0} aria-label={label} role={isRepeated ? 'group' : undefined} className="json">
        <Value name={null} value={value} depth={0} />
      </section>
      <CopyButton text={text} label={`Copy ${label}`} />
    </div>
  );
}

/** A number as the text has it: a `number` would lose digits of a large one. */
class NumberText {
  readonly digits: string;
  constructor(digits: string) {
    this.digits = digits;
  }
}

const keepDigits = (_name: string, value: unknown, { source }: { readonly source?: string } = {}) =>
  typeof value === 'number' ? new NumberText(source ?? String(value)) : value;

/** Returns undefined if the text is no object or array. */
function readTree(text: string): unknown {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    return JSON.parse(text, keepDigits);
  } catch {
    return undefined;
  }
}

interface ValueProps {
  readonly name: string | null;
  readonly value: unknown;
  readonly depth: number;
}

function Value({ name, value, depth }: ValueProps) {
  const label = name === null ? null : <span className="json-name">{name}: </span>;
  if (value instanceof NumberText) return <Leaf label={label} kind="number" text={value.digits} />;
  const members = typeof value === 'object' && value !== null ? Object.entries(value) : null;
  if (members === null || members.length === 0)
    return <Leaf label={label} kind={value === null ? 'null' : typeof value} text={JSON.stringify(value)} />;
  const isList = Array.isArray(value);
  return (
    <details open={depth < OPEN_DEPTH}>
      <summary>
        {label}
        <span className="json-count">{formatCount(members.length, isList ? 'item' : 'field')}</span>
      </summary>
      <div className="json-members">
        {members.slice(0, MAX_MEMBERS).map(([key, member]) => (
          <Value key={key} name={key} value={member} depth={depth + 1} />
        ))}
        {members.length > MAX_MEMBERS && (
          <p className="code-note">The rest is not shown. Copy the text to get all of it.</p>
        )}
      </div>
    </details>
  );
}

interface LeafProps {
  readonly label: ReactNode;
  readonly kind: string;
  readonly text: string;
}

const Leaf = ({ label, kind, text }: LeafProps) => (
  <div className="json-leaf">
    {label}
    <span className={`json-${kind}`}>{text}</span>
  </div>
);
