import { useMemo } from 'react';
import { type ComparedPart, diffWords } from '../lib/word-diff.ts';
import './text-diff.css';

interface TextDiffProps {
  /** Null if this side has no such text. */
  readonly left: string | null;
  readonly right: string | null;
  /** What the sides are called. */
  readonly names: readonly [string, string];
  readonly isCode?: boolean;
}

/** Longer texts make the page slow. */
const MAX_COMPARED = 20_000;

const cut = (text: string | null) => (text ?? '').slice(0, MAX_COMPARED);

/** Two texts beside each other, with their differences marked. Equal texts are shown once. */
export function TextDiff({ left, right, names, isCode = false }: TextDiffProps) {
  const diff = useMemo(() => diffWords(cut(left), cut(right)), [left, right]);
  const className = isCode ? 'plain-text diff-code' : 'plain-text';
  const isLong = Math.max(left?.length ?? 0, right?.length ?? 0) > MAX_COMPARED;
  const note = isLong && <p className="small muted">The texts are longer. Their ends are not shown here.</p>;
  if (left !== null && left === right) {
    return (
      <div className="diff-side">
        <p className="small muted">The same in both:</p>
        <div className={className}>{cut(left)}</div>
        {note}
      </div>
    );
  }
  const sides = [
    { name: names[0], text: left, parts: diff.left, Mark: 'del' },
    { name: names[1], text: right, parts: diff.right, Mark: 'ins' },
  ] as const;
  return (
    <div className="stack-tight">
      <div className="diff">
        {sides.map(({ name, text, parts, Mark }) => (
          <div key={name} className="diff-side">
            <p className="small muted">{name}</p>
            {text === null ? (
              <p className="muted">None.</p>
            ) : (
              <div className={className}>
                <Parts parts={parts} Mark={Mark} />
              </div>
            )}
          </div>
        ))}
      </div>
      {note}
    </div>
  );
}

function Parts({ parts, Mark }: { readonly parts: readonly ComparedPart[]; readonly Mark: 'del' | 'ins' }) {
  return parts.map(({ text, isChanged }, index) =>
    // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a text have no other identity.
    isChanged ? <Mark key={index}>{text}</Mark> : text,
  );
}
