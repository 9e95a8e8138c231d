import {
  createContext,
  type MouseEvent,
  type ReactNode,
  useContext,
  useId,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from 'react';

interface DialogProps {
  readonly title: string;
  readonly isWide?: boolean;
  readonly className?: string;
  /** True if a click beside the dialog closes it: nothing is lost by that. */
  readonly closesOutside?: boolean;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

/** What a form tells the dialog that it is in. */
interface DialogPart {
  /** A dialog with changes asks before it closes. */
  readonly setChanged: (hasChanges: boolean) => void;
  /** Closes the dialog as Escape does. */
  readonly leave: () => void;
}

const DialogContext = createContext<DialogPart | null>(null);

/** Null outside a dialog. */
export const useDialog = (): DialogPart | null => useContext(DialogContext);

/**
 * A native dialog, which is open while it is rendered. Escape closes it, unless something was typed that would be lost. A
 * click beside it does not, because the dialog may contain what was typed, or a key that is shown once.
 */
export function Dialog({ title, isWide = false, className, closesOutside = false, onClose, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  const hasChanges = useRef(false);
  const [isAsking, setAsking] = useState(false);
  const close = useRef(onClose);
  useLayoutEffect(() => {
    close.current = onClose;
  });
  const part = useMemo(
    (): DialogPart => ({
      setChanged: (changed) => {
        hasChanges.current = changed;
      },
      leave: () => (hasChanges.current ? setAsking(true) : close.current()),
    }),
    [],
  );
  // A dialog must be closed before it is removed, so that the focus returns to the button that opened it.
  useLayoutEffect(() => {
    const element = dialog.current;
    element?.showModal();
    return () => element?.close();
  }, []);
  return (
    <dialog
      ref={dialog}
      className={[isWide && 'dialog-wide', className].filter(Boolean).join(' ') || undefined}
      aria-labelledby={titleId}
      onCancel={(event) => {
        // The dialog is closed by its removal. The browser also sends `cancel` of elements in it, such as a file field.
        if (event.target !== event.currentTarget) return;
        event.preventDefault();
        // A request's answer is awaited.
        if (event.currentTarget.querySelector('form[aria-busy="true"]') === null) part.leave();
      }}
      onClose={(event) => {
        // A browser closes a dialog without `cancel` if Escape is pressed twice.
        if (event.target === dialog.current && dialog.current.open === false) onClose();
      }}
      {...(closesOutside && { onClick: (event) => isOutside(event) && part.leave() })}
    >
      <h2 id={titleId}>{title}</h2>
      <DialogContext value={part}>{children}</DialogContext>
      {isAsking && <DiscardDialog onKeep={() => setAsking(false)} onDiscard={onClose} />}
    </dialog>
  );
}

function isOutside({ target, currentTarget, clientX, clientY }: MouseEvent<HTMLDialogElement>): boolean {
  const { left, right, top, bottom } = currentTarget.getBoundingClientRect();
  return target === currentTarget && (clientX < left || clientX > right || clientY < top || clientY > bottom);
}

interface DiscardDialogProps {
  readonly onKeep: () => void;
  readonly onDiscard: () => void;
}

/** Asks before changes are lost. */
export function DiscardDialog({ onKeep, onDiscard }: DiscardDialogProps) {
  return (
    <Dialog title="Discard your changes?" onClose={onKeep}>
      <div className="stack">
        <p>What you typed is not saved.</p>
        <div className="row row-end">
          <button type="button" className="button" onClick={onKeep}>
            Keep editing
          </button>
          <button type="button" className="button button-danger" onClick={onDiscard}>
            Discard changes
          </button>
        </div>
      </div>
    </Dialog>
  );
}
