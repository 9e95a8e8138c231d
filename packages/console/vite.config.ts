import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';

/** Adds the script that sets the colours before the first paint. Vite makes modules of all others. */
function themeScript(): Plugin {
  return {
    name: 'theme-script',
    transformIndexHtml: {
      order: 'post',
      handler: (_html, { bundle }) => {
        const file = Object.keys(bundle ?? {}).find((name) => /theme-[^/]+\.js$/.test(name));
        return file === undefined ? [] : [{ tag: 'script', attrs: { src: `./${file}` }, injectTo: 'head' }];
      },
    },
    buildStart() {
      const source = readFileSync(join(import.meta.dirname, 'src/app/theme-start.ts'), 'utf8');
      this.emitFile({ type: 'asset', name: 'theme.js', source });
    },
  };
}

export default defineConfig({
  root: import.meta.dirname,
  // The pages find their files relative to themselves, so that they work below every path.
  base: './',
  plugins: [react(), themeScript()],
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
