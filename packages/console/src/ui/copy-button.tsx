import { useState } from 'react';
import { notify } from './toasts.tsx';

interface CopyButtonProps {
  readonly text: string;
  /** What is copied, for screen readers: `Copy API key`. */
  readonly label: string;
}

/** Copies text. Pages without https have no clipboard; there the person copies the selected text by hand. */
export function CopyButton({ text, label }: CopyButtonProps) {
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setCopied(true);
      setTimeout(() => setCopied(false), 2000);
    } catch {
      notify('This page may not use the clipboard. Select the text and copy it.');
    }
  };
  return (
    <button type="button" className="button button-small" aria-label={label} onClick={copy}>
      {isCopied ? 'Copied' : 'Copy'}
    </button>
  );
}

interface CodeBlockProps {
  readonly code: string;
  readonly label: string;
  /** True if the page can have several with the same label. They are no landmarks then. */
  readonly isRepeated?: boolean;
}

/** A longer text makes the page slow. */
const MAX_SHOWN = 50_000;

/** Code or JSON with a button that copies all of it. The end of a very long text is not shown. */
export function CodeBlock({ code, label, isRepeated = false }: CodeBlockProps) {
  const isCut = code.length > MAX_SHOWN;
  return (
    <div className="code code-copy">
      {/* A region that scrolls must be reachable by keyboard. */}
      <section tabIndex={0} aria-label={label} role={isRepeated ? 'group' : undefined}>
        <pre>
          <code>{isCut ? `${code.slice(0, MAX_SHOWN)}…` : code}</code>
        </pre>
        {isCut && <p className="code-note">The rest is not shown. Copy the text to get all of it.</p>}
      </section>
      <CopyButton text={code} label={`Copy ${label}`} />
    </div>
  );
}
