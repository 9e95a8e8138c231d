import { type RefObject, useEffect, useState } from 'react';

/** What is scrolled past faster than this is not read. */
const REST_MS = 150;
/** What is so near to the window is read before it is in view. */
const MARGIN = '300px';

/** True after the element has been in view, or near to it, for a moment. */
export function useIsSeen(element: RefObject<HTMLElement | null>): boolean {
  const [isSeen, setSeen] = useState(false);
  useEffect(() => {
    if (isSeen || element.current === null) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const observer = new IntersectionObserver(
      (entries) => {
        clearTimeout(timer);
        if (entries.at(-1)?.isIntersecting) timer = setTimeout(() => setSeen(true), REST_MS);
      },
      { rootMargin: MARGIN },
    );
    observer.observe(element.current);
    return () => {
      clearTimeout(timer);
      observer.disconnect();
    };
  }, [element, isSeen]);
  return isSeen;
}
