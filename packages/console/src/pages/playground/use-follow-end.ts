import { type RefObject, useCallback, useEffect, useRef, useState } from 'react';

/** Nearer than this counts as the end. */
const END_PX = 40;

const page = () => document.documentElement;
const distanceToEnd = () => page().scrollHeight - window.innerHeight - window.scrollY;

/**
 * Keeps the end of a growing element in view unless it is empty, but only while the person looks at the end. Scrolling
 * up is never undone. Returns true in `isAtEnd` while nothing is hidden below.
 */
export function useFollowEnd(content: RefObject<HTMLElement | null>, isEmpty: boolean) {
  const isFollowing = useRef(true);
  const lastTop = useRef(0);
  const [isAtEnd, setAtEnd] = useState(true);

  const jump = useCallback(() => {
    isFollowing.current = true;
    window.scrollTo({ top: page().scrollHeight, behavior: 'instant' });
    // If the page became shorter, this is above the place before, but the person did not scroll.
    lastTop.current = window.scrollY;
  }, []);

  useEffect(() => {
    const note = () => setAtEnd(distanceToEnd() < END_PX);
    const onScroll = () => {
      const top = window.scrollY;
      const distance = distanceToEnd();
      // At the very end the browser scrolled up by itself, because the page became shorter.
      if (top < lastTop.current && distance > 1) isFollowing.current = false;
      else if (distance < END_PX) isFollowing.current = true;
      lastTop.current = top;
      note();
    };
    // What the person opens stays in view.
    const onClick = ({ target }: MouseEvent) => {
      if (target instanceof Element && target.closest('summary') !== null) isFollowing.current = false;
    };
    const observer = new ResizeObserver(() => {
      if (isFollowing.current && !isEmpty) jump();
      note();
    });
    const element = content.current;
    if (element !== null) observer.observe(element);
    element?.addEventListener('click', onClick);
    window.addEventListener('scroll', onScroll, { passive: true });
    return () => {
      observer.disconnect();
      element?.removeEventListener('click', onClick);
      window.removeEventListener('scroll', onScroll);
    };
  }, [content, isEmpty, jump]);

  return { isAtEnd, jump };
}
