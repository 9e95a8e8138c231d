export { createKey, serve } from './main.ts';
