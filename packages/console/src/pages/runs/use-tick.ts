import { useEffect, useState } from 'react';

const TICK_MS = 1000;

/** Renders again every second while something runs, so that its duration grows. */
export function useTick(isRunning: boolean): void {
  const [, setTick] = useState(0);
  useEffect(() => {
    if (!isRunning) return;
    const timer = setInterval(() => setTick((tick) => tick + 1), TICK_MS);
    return () => clearInterval(timer);
  }, [isRunning]);
}
