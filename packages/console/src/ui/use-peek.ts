import { type MouseEvent, type RefObject, useEffect, useEffectEvent, useRef } from 'react';
import { areShortcutsOn } from '../app/shortcuts.ts';

/** The row that is shown at the side of a table. */
export interface Peek {
  /** Null if none is shown. */
  readonly id: string | null;
  readonly onChange: (id: string | null) => void;
}

interface PeekRows {
  readonly peek: Peek | undefined;
  readonly body: RefObject<HTMLElement | null>;
  /** The keys of all rows that were read. */
  readonly listKeys: () => readonly string[];
  readonly scrollTo: (index: number) => void;
}

/** In these a key is text, or belongs to what is open above the page. */
const OTHERS = 'input, select, textarea, dialog, [role="menu"]';

/**
 * The keys j and k show the next row, Enter opens the page of the row, and Escape closes the side. Returns the handler
 * of clicks: while the side is open a click shows the row there, and a click on the row that is shown opens its page.
 */
export function usePeek({ peek, body, listKeys, scrollTo }: PeekRows): (event: MouseEvent) => void {
  /** The row that gets the focus when it is in the document. */
  const wanted = useRef<string | null>(null);
  const linkIn = (id: string) => body.current?.querySelector<HTMLElement>(`[data-row="${CSS.escape(id)}"] a`);
  useEffect(() => {
    if (wanted.current === null) return;
    const link = linkIn(wanted.current);
    if (link == null) return;
    wanted.current = null;
    link.focus({ preventScroll: true });
  });
  const show = (id: string) => {
    wanted.current = id;
    peek?.onChange(id);
  };
  const onKeyDown = useEffectEvent((event: KeyboardEvent) => {
    if (peek === undefined || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target instanceof Element && event.target.closest(OTHERS) !== null) return;
    if ((event.key === 'j' || event.key === 'k') && areShortcutsOn()) {
      const keys = listKeys();
      // A row that is not in the list, such as that of a link to this page, is before it.
      const index = Math.max(0, keys.indexOf(peek.id ?? '') + (event.key === 'j' ? 1 : -1));
      const id = keys[index];
      if (id === undefined || id === peek.id) return;
      event.preventDefault();
      scrollTo(index);
      show(id);
    } else if (peek.id !== null && event.key === 'Escape') peek.onChange(null);
    // A row's link has the focus, or the person has clicked beside everything.
    else if (peek.id !== null && event.key === 'Enter' && event.target === document.body) linkIn(peek.id)?.click();
  });
  const isOn = peek !== undefined;
  useEffect(() => {
    if (!isOn) return;
    const listener = (event: KeyboardEvent) => onKeyDown(event);
    window.addEventListener('keydown', listener);
    return () => window.removeEventListener('keydown', listener);
  }, [isOn]);
  return (event) => {
    const isPlain = !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey;
    // `detail` is 0 if the key Enter was pressed: that opens the page.
    if (peek?.id == null || !isPlain || event.button !== 0 || event.detail === 0) return;
    const row = event.target instanceof Element ? event.target.closest<HTMLElement>('[data-row]') : null;
    const id = row?.dataset.row;
    if (id === undefined || id === peek.id) return;
    event.preventDefault();
    show(id);
  };
}
