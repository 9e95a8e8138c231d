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
    rolldownOptions: {
      output: {
        // Few files, of which that of the libraries changes only with them.
        codeSplitting: {
          groups: [
            { name: 'libraries', test: /node_modules\/(?!marked|uplot|highlight)/ },
            { name: 'shared', test: /console\/src\/(app|lib|ui|styles)\/(?!markdown|highlight\.)/, minShareCount: 2 },
          ],
        },
      },
    },
    // The packages in the build ask that their licences are copied with it.
    license: { fileName: 'licenses.md' },
  },
});
