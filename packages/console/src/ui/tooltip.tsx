import { Tooltip as RadixTooltip } from 'radix-ui';
import type { ReactElement } from 'react';

interface TooltipProps {
  readonly text: string;
  /** A button or a link. */
  readonly children: ReactElement;
}

/** Explains a control. Its name must not depend on it. */
export function Tooltip({ text, children }: TooltipProps) {
  return (
    <RadixTooltip.Root>
      <RadixTooltip.Trigger asChild>{children}</RadixTooltip.Trigger>
      <RadixTooltip.Portal>
        <RadixTooltip.Content className="tooltip" sideOffset={4}>
          {text}
        </RadixTooltip.Content>
      </RadixTooltip.Portal>
    </RadixTooltip.Root>
  );
}

export const TooltipProvider = RadixTooltip.Provider;
