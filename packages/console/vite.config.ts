import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

export default defineConfig({
  root: import.meta.dirname,
  // The pages find their files relative to themselves, so that they work below every path.
  base: './',
  plugins: [react()],
  resolve: { conditions: ['runwire', 'module', 'browser'] },
  build: {
    outDir: 'built',
    emptyOutDir: true,
    target: 'es2023',
    // A policy of the pages forbids `data:`.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    // The packages in the build ask that their licences are copied with it.
    license: { fileName: 'licenses.md' },
  },
});
