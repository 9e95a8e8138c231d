import { type ReactNode, useId, useLayoutEffect, useRef } from 'react';

interface DialogProps {
  readonly title: string;
  readonly isWide?: boolean;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

/**
 * A native dialog, which is open while it is rendered. Escape closes it. A click beside it does not, because the dialog may
 * contain what was typed, or a key that is shown once.
 */
export function Dialog({ title, isWide = false, onClose, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  // A dialog must be closed before it is removed, so that the focus returns to the button that opened it.
  useLayoutEffect(() => {
    const element = dialog.current;
    element?.showModal();
    return () => element?.close();
  }, []);
  return (
    <dialog
      ref={dialog}
      className={isWide ? 'dialog-wide' : undefined}
      aria-labelledby={titleId}
      onCancel={(event) => {
        // The dialog is closed by its removal. The browser also sends `cancel` of elements in it, such as a file field.
        if (event.target !== event.currentTarget) return;
        event.preventDefault();
        // A request's answer is awaited.
        if (event.currentTarget.querySelector('form[aria-busy="true"]') === null) onClose();
      }}
      onClose={() => {
        // A browser closes a dialog without `cancel` if Escape is pressed twice.
        if (dialog.current?.open === false) onClose();
      }}
    >
      <h2 id={titleId}>{title}</h2>
      {children}
    </dialog>
  );
}
