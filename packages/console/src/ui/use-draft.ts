import { useBlocker } from '@tanstack/react-router';
import { type RefObject, useCallback, useEffect, useRef, useState } from 'react';
import { useDialog } from './dialog.tsx';

interface Draft {
  /** Compares the fields with what they began with. */
  readonly compare: () => void;
  /** The fields as they are now are saved. */
  readonly accept: () => void;
  /** While the form is sent, pages may change without a question. */
  readonly setSending: (isSending: boolean) => void;
  /** Set while the person is asked whether the changes may be lost. */
  readonly question: { readonly keep: () => void; readonly discard: () => void } | null;
}

/** Keeps what was typed in a form from being lost: the dialog, the page and the window ask before they are left. */
export function useDraft(form: RefObject<HTMLFormElement | null>, isGuarded: boolean): Draft {
  const [hasChanges, setChanges] = useState(false);
  const saved = useRef('');
  const isSending = useRef(false);
  const dialog = useDialog();
  useEffect(() => {
    saved.current = readValues(form.current);
  }, [form]);
  useEffect(() => {
    if (isGuarded) dialog?.setChanged(hasChanges);
  }, [dialog, hasChanges, isGuarded]);
  const blocker = useBlocker({
    // The tabs of a page change its search only, and keep its forms.
    shouldBlockFn: ({ current, next }) => !isSending.current && current.pathname !== next.pathname,
    enableBeforeUnload: () => !isSending.current,
    disabled: !isGuarded || !hasChanges,
    withResolver: true,
  });
  return {
    compare: useCallback(() => setChanges(readValues(form.current) !== saved.current), [form]),
    accept: useCallback(() => {
      saved.current = readValues(form.current);
      setChanges(false);
    }, [form]),
    setSending: useCallback((sending) => {
      isSending.current = sending;
    }, []),
    question: blocker.status === 'blocked' ? { keep: blocker.reset, discard: blocker.proceed } : null,
  };
}

function readValues(form: HTMLFormElement | null): string {
  if (form === null) return '';
  const values = [...new FormData(form)].map(([name, value]) => [name, typeof value === 'string' ? value : value.name]);
  return JSON.stringify(values);
}
