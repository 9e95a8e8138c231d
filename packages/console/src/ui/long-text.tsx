import { type ReactNode, useState } from 'react';
import { formatNumber } from '../lib/format.ts';

interface LongTextProps {
  readonly text: string;
  /** Longer texts are cut. */
  readonly maxShown?: number;
  /** How the text is shown; as plain text by default. */
  readonly children?: ((shown: string) => ReactNode) | undefined;
}

/** A longer text makes the page slow, and few people read it to its end. */
const MAX_SHOWN = 20_000;

/** Text of people, models and tools. A very long one is cut, with a button that shows the rest. */
export function LongText({ text, maxShown = MAX_SHOWN, children = plain }: LongTextProps) {
  const [isWhole, setWhole] = useState(false);
  if (text.length <= maxShown || isWhole) return children(text);
  return (
    <div className="stack-tight">
      {children(text.slice(0, maxShown))}
      <div>
        <button type="button" className="button button-small" onClick={() => setWhole(true)}>
          Show all {formatNumber(text.length)} characters
        </button>
      </div>
    </div>
  );
}

const plain = (shown: string) => <div className="plain-text">{shown}</div>;
