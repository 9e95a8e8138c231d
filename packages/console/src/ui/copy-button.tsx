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
