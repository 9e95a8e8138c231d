import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { type Call, useMay } from '../ui/may.tsx';

/** If a page's dialog for something new is open: the person asked for it on the page, or in the palette by `?create=1`. */
export function useCreateDialog(call: Call): readonly [isOpen: boolean, set: (isOpen: boolean) => void] {
  const { create } = useSearch({ strict: false });
  const navigate = useNavigate();
  const may = useMay(call);
  const [isOpen, setOpen] = useState(false);
  const isAsked = create !== undefined && may;
  const set = (open: boolean) => {
    setOpen(open);
    if (!open && isAsked) void navigate({ to: '.', search: ({ create: _, ...rest }) => rest, replace: true });
  };
  return [isOpen || isAsked, set];
}
