import { type MouseEvent, useState } from 'react';
import { notify } from './toasts.tsx';

interface CopyButtonProps {
  readonly text: string;
  /** What is copied, for screen readers: `Copy API key`. */
  readonly label: string;
}

/** Copies text. */
export function CopyButton({ text, label }: CopyButtonProps) {
  const [isCopied, setCopied] = useState(false);
  const copy = async ({ currentTarget: button }: MouseEvent<HTMLButtonElement>) => {
    if (!(await copyText(text, button))) {
      notify('This page may not use the clipboard. Select the text and copy it.');
      return;
    }
    setCopied(true);
    setTimeout(() => setCopied(false), 2000);
  };
  return (
    <>
      <button
        type="button"
        className="button button-small"
        aria-label={isCopied ? label.replace('Copy', 'Copied') : label}
        onClick={copy}
      >
        {isCopied ? 'Copied' : 'Copy'}
      </button>
      <span className="visually-hidden" role="status">
        {isCopied && 'Copied'}
      </span>
    </>
  );
}

/** Pages without https have no clipboard. They can copy what is selected in a field, which must be in the open dialog. */
async function copyText(text: string, button: HTMLButtonElement): Promise<boolean> {
  if (navigator.clipboard !== undefined) {
    return await navigator.clipboard.writeText(text).then(
      () => true,
      () => false,
    );
  }
  const field = document.createElement('textarea');
  field.className = 'visually-hidden';
  field.value = text;
  button.after(field);
  field.select();
  const isCopied = document.execCommand('copy');
  field.remove();
  button.focus();
  return isCopied;
}
