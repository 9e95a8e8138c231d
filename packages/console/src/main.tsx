import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { isConnectionLost } from './app/errors.ts';
import { queryClient } from './app/query-client.ts';
import { router } from './app/router.tsx';
import { takeSetUpLink } from './app/set-up-link.ts';
import './styles/tokens.css';
import './styles/base.css';
import './styles/ui.css';
import './styles/shell.css';
import { Toasts } from './ui/toasts.tsx';
import { TooltipProvider } from './ui/tooltip.tsx';

function openSetUpLink(): void {
  if (takeSetUpLink()) void router.navigate({ to: '/set-up', replace: true });
}

const root = document.getElementById('root');
if (root === null) throw new Error('The page has no element `root`.');
openSetUpLink();
// The link may also be pasted while the console is open.
window.addEventListener('hashchange', openSetUpLink);
createRoot(root, {
  // The page reports a lost connection itself. Everything else is logged as React does by default.
  onCaughtError: (error) => {
    if (!isConnectionLost(error)) console.error(error);
  },
}).render(
  <StrictMode>
    <QueryClientProvider client={queryClient}>
      <TooltipProvider>
        <RouterProvider router={router} />
        <Toasts />
      </TooltipProvider>
    </QueryClientProvider>
  </StrictMode>,
);
