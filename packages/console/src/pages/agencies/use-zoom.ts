import { type RefObject, useLayoutEffect, useState } from 'react';

const STEP = 1.25;
const MIN = 0.25;
const MAX = 2;

interface Zoom {
  readonly scale: number;
  readonly larger: () => void;
  readonly smaller: () => void;
  /** Follows the width of the box from now on. */
  readonly fit: () => void;
}

const bounded = (scale: number) => Math.min(Math.max(scale, MIN), MAX);

/** How large a drawing is shown in a box. It fits the width of the box until the person chooses another size. */
export function useZoom(box: RefObject<HTMLElement | null>, width: number): Zoom {
  const [fitting, setFitting] = useState(1);
  const [chosen, setChosen] = useState<number | null>(null);
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return;
    const measure = () => setFitting(bounded(Math.min(1, element.clientWidth / width)));
    measure();
    const resize = new ResizeObserver(measure);
    resize.observe(element);
    return () => resize.disconnect();
  }, [box, width]);
  const scale = chosen ?? fitting;
  return {
    scale,
    larger: () => setChosen(bounded(scale * STEP)),
    smaller: () => setChosen(bounded(scale / STEP)),
    fit: () => setChosen(null),
  };
}
